"""Intervals of answers: how far the noise of released tables may have moved them. It is free.

What a released table holds is answered from the tables themselves; everything else by fitting the
model again to draws of the true tables given the released ones.
"""
