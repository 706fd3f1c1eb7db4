"""Jobs that train elsewhere: on another host, in the queue of a cluster, in Ray. See docs/remote-jobs.md.

A provider is a record of commands that submit, list and cancel jobs. A remote job has the same record as a
job of this machine, with the name of its provider in it; whoever asks about the job asks the provider. No
process here has to keep running while the jobs train.
"""
