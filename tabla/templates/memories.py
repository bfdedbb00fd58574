"""How many words a memory has that may lie in LUTs. LUTs hold memory in ranks, in most families of 16 words of a bit.

A block RAM holds a thousand words of 18 bits. A memory of few words takes a whole one all the same, or ranks of LUTs
whose words a multiplexer chooses from. In an ECP5 18 bits of 64 words take 20 ranks of 4 bits, and those of 128 words
40; each rank takes six LUT4s (Lattice, *ECP5 and ECP5-5G Family Data Sheet*, distributed memory).
"""

WIDEST = 18
"""The most bits of a memory: a block RAM has its output register for words of that width in every family. Wider words
are divided."""
FEW_WORDS = 64
"""A memory of no more words takes a block RAM or LUTs, as there is room. It is never divided."""
LUT_WORDS = 128
"""A memory of no more words lies in LUTs where block RAMs are scarce. Its 18 bits then take about 400 LUT4s."""
