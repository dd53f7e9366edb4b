# Read by ctest: threads of libtorch that wait for each other sleep. Beside other tests on the same cores, spinning makes
# a step of training ten times as long.
set(ENV{OMP_WAIT_POLICY} PASSIVE)
