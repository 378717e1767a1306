/*
 * How a SCSI command goes to a low-level driver, with the two simple markers that the patch
 * which proposed them for Linux put there.
 *
 *	gcc -g -O2 -I../../include -o scsi_mod scsi.c
 *	waymark list --simple ./scsi_mod
 */
#include <stdio.h>
#include "waymark/simple.h"

struct scsi_cmnd {
	int tag;
	void (*scsi_done)(struct scsi_cmnd *);
};

struct scsi_host_template {
	int (*queuecommand)(struct scsi_cmnd *, void (*)(struct scsi_cmnd *));
};

struct Scsi_Host {
	struct scsi_host_template *hostt;
};

/* A function of its own, as where other files call it. */
__attribute__((noinline))
static int scsi_dispatch_cmd(struct Scsi_Host *host, struct scsi_cmnd *cmd, void (*scsi_done)(struct scsi_cmnd *))
{
	int rtn;

	WAYMARK_SIMPLE("queuecommand", "Command being queued %p Done function %p", cmd, scsi_done);
	rtn = host->hostt->queuecommand(cmd, scsi_done);
	WAYMARK_SIMPLE("queuecommand_return", "Command returning %p Return value %d", cmd, rtn);
	return rtn;
}

static void done(struct scsi_cmnd *cmd) { printf("done %d\n", cmd->tag); }

static int queue(struct scsi_cmnd *cmd, void (*scsi_done)(struct scsi_cmnd *))
{
	scsi_done(cmd);
	return cmd->tag & 1;
}

int main(void)
{
	struct scsi_host_template template = { queue };
	struct Scsi_Host host = { &template };
	int failed = 0;

	for (int tag = 0; tag < 3; tag++) {
		struct scsi_cmnd cmd = { tag, done };
		failed += scsi_dispatch_cmd(&host, &cmd, cmd.scsi_done);
	}
	return failed != 1;
}
