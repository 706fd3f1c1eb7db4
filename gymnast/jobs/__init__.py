"""Background training without a daemon: start, queue, follow, wait for and stop jobs.

runs_dir/.jobs/ID.json      what a job was asked to do, and how its process ended
runs_dir/.jobs/ID.txt       its output
runs_dir/.jobs/queued/      one locked file per waiting job, named by arrival
runs_dir/.jobs/running/     one locked file per training job

The id of a job is that of its run: the directory is claimed when the job is started, and becomes a
run when training begins. A job that resumes a run has the id and the directory of that run.
"""
