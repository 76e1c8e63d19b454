#include "hotel/cli/commands.h"

#include <stdio.h>

int command_failed(enum err e, const struct errmsg *em)
{
    fprintf(stderr, "serai-hotel: %s\n", err_reason(em));
    return e == ERR_IO || e == ERR_TIMEOUT || e == ERR_REJECTED ? EXIT_NO_SERVICE
           : e == ERR_ILLEGAL_ARGUMENT                          ? EXIT_DATA_ERROR
                                                                : EXIT_FAILED;
}
