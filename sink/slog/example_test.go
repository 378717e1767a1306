package slogsink_test

import (
	"fmt"
	"log/slog"
	"os"

	"github.com/waymark-trace/waymark/marker"
	slogsink "github.com/waymark-trace/waymark/sink/slog"
)

var (
	miss  = marker.New2[string, int]("store:miss", "key %s shard %d")
	evict = marker.New2[string, float64]("store:evict", "key %s age %f")
)

func Example() {
	withoutTime := func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}
	logger := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: withoutTime}))
	s, err := slogsink.Connect(logger, slog.LevelInfo, "store:*")
	if err != nil {
		fmt.Println(err)
		return
	}
	miss.Mark("a", 3)
	evict.Mark("b", 1.5)
	if err := s.Close(); err != nil {
		fmt.Println(err)
	}
	miss.Mark("c", 4)
	// Output:
	// level=INFO msg=store:miss key=a shard=3
	// level=INFO msg=store:evict key=b age=1.5
}
