"""Damaged files for every reader: each must be read, or refused in one of our sentences.

`mutation` damages, `readers` know what to damage and how it is read, `running` feeds one after the
other to a child process with limits on time and memory. Input number N of a seed is always the
same, so that a run can be interrupted, resumed, and any input looked at again.
"""
