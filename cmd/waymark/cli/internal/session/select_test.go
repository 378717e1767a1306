package session

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
)

func TestParseSelection(t *testing.T) {
	type args = []string
	tests := []struct {
		args     args
		target   Subject
		patterns []string
		err      string
	}{
		{args: args{}},
		{args: args{"./server"}, target: Subject{Path: "./server"}},
		{args: args{"server"}, target: Subject{Path: "server"}},
		{args: args{"server", "http:*", "loop1"}, target: Subject{Path: "server"}, patterns: args{"http:*", "loop1"}},
		{args: args{"/srv/a:b"}, target: Subject{Path: "/srv/a:b"}},
		{args: args{"http:*"}, patterns: args{"http:*"}},
		{args: args{"loop?"}, patterns: args{"loop?"}},
		{args: args{"-p", "7"}, target: Subject{PIDs: []int{7}}},
		{args: args{"-p", "7", "loop1"}, target: Subject{PIDs: []int{7}}, patterns: args{"loop1"}},
		{args: args{"-p", "7,8", "-p", "9", "loop1"}, target: Subject{PIDs: []int{7, 8, 9}}, patterns: args{"loop1"}},
		{args: args{"--", "./tick", "5"}, target: Subject{Command: args{"./tick", "5"}}},
		{args: args{"loop1", "tick:*", "--", "tick", "-p", "5"}, target: Subject{Command: args{"tick", "-p", "5"}}, patterns: args{"loop1", "tick:*"}},

		{args: args{"-p", "0"}, err: "-p 0 is not a process"},
		{args: args{"-p", "-3"}, err: "-p -3 is not a process"},
		{args: args{"--"}, err: "-- is followed by no command"},
		{args: args{"-p", "7", "--", "ls"}, err: "-p 7 and -- ls are two targets"},
		{args: args{"-p", "7", "./server"}, err: "process 7 and ./server are two targets"},
		{args: args{"-p", "7,8", "./server"}, err: "processes 7,8 and ./server are two targets"},
		{args: args{"./a", "./b"}, err: "./a and ./b are two targets"},
		{args: args{"./a", "--", "ls"}, err: "ls and ./a are two targets"},
	}
	for _, tt := range tests {
		var pids []int
		var got *Selection
		cmd := &cobra.Command{SilenceErrors: true, SilenceUsage: true, RunE: func(cmd *cobra.Command, args []string) (err error) {
			got, err = Parse(cmd, pids, args)
			return err
		}}
		cmd.Flags().IntSliceVarP(&pids, "pid", "p", nil, "")
		cmd.SetArgs(tt.args)
		err := cmd.Execute()
		if tt.err != "" {
			if err == nil || err.Error() != tt.err {
				t.Errorf("%q: %v, want %s", tt.args, err, tt.err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", tt.args, err)
			continue
		}
		if len(got.Patterns) == 0 {
			got.Patterns = nil
		}
		if d := cmp.Diff(tt.target, got.Subject); d != "" {
			t.Errorf("%q: target (-want +got):\n%s", tt.args, d)
		}
		if d := cmp.Diff(tt.patterns, got.Patterns); d != "" {
			t.Errorf("%q: patterns (-want +got):\n%s", tt.args, d)
		}
	}
}
