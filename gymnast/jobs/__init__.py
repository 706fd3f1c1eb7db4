"""Training in the background: started, queued, followed, waited for and stopped; no daemon.

runs_dir/.jobs/ID.json      what was asked for, and how the process ended
runs_dir/.jobs/ID.txt       what it printed
runs_dir/.jobs/queued/      a locked file per job that waits, named by arrival
runs_dir/.jobs/running/     a locked file per job that trains

A job's id is its run's: the directory is claimed when the job is started, and becomes a run when
training begins.
"""
