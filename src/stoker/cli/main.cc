#include "stoker/cli/program.h"

int main(int argc, char** argv) { return stoker::cli::Program().run(argc, argv); }
