/* Preloaded (LD_PRELOAD) into a program: runs its main with the same arguments once for each byte that comes on
 * standard input, in a fork of the process, which is loaded and initialised only once; with sanitizers that is half the
 * time of a short run. After each run the status of waitpid goes to standard output (an int). A run that takes
 * SERVE_SECONDS is ended by SIGALRM. The run itself reads /dev/null and writes to it; its standard error is that of the
 * process. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

typedef int main_function(int, char **, char **);
typedef int start_function(main_function *, int, char **, void (*)(void), void (*)(void), void (*)(void), void *);

start_function __libc_start_main;

static main_function *program;

static int serve(int argc, char **argv, char **environment)
{
    const char *seconds = getenv("SERVE_SECONDS");
    char order;
    while (read(STDIN_FILENO, &order, 1) == 1) {
        pid_t child = fork();
        if (child == 0) {
            int null = open("/dev/null", O_RDWR);
            if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0)
                _exit(126);
            close(null);
            alarm(seconds ? (unsigned)atoi(seconds) : 120);
            exit(program(argc, argv, environment));
        }
        int status;
        if (child < 0 || waitpid(child, &status, 0) != child ||
            write(STDOUT_FILENO, &status, sizeof status) != sizeof status)
            return 1;
    }
    return 0;
}

int __libc_start_main(main_function *program_main, int argc, char **argv, void (*init)(void), void (*fini)(void),
                      void (*loader_fini)(void), void *stack)
{
    start_function *start = (start_function *)dlsym(RTLD_NEXT, "__libc_start_main");
    program = program_main;
    return start(serve, argc, argv, init, fini, loader_fini, stack);
}
