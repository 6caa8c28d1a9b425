/* The calls of MPI that training needs. MPI defines names for C, whose values differ between its implementations, and not for other languages. */

#include <mpi.h>
#include <stdlib.h>
#include <time.h>

/* How long a wait keeps the core busy, in nanoseconds. */
static long busy = 0;

static long nanoseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000L + now.tv_nsec;
}

/* Waits, and gives the core away if it takes long: a rank may wait for minutes while another one evaluates, and there may be more ranks than cores. */
static void wait_for(MPI_Request *request)
{
    int is_done = 0;
    long begin = nanoseconds();
    for (;;) {
        for (int tries = 0; tries < 20; tries++) {
            MPI_Test(request, &is_done, MPI_STATUS_IGNORE);
            if (is_done)
                return;
        }
        long waited = nanoseconds() - begin;
        if (waited < busy)
            continue;
        struct timespec pause = {0, waited < 100000000 ? 50000 : 2000000};
        nanosleep(&pause, NULL);
    }
}

/* Returns whether MPI can be used from one thread at a time, whichever that is. */
int xpr_mpi_begin(long busy_nanoseconds)
{
    busy = busy_nanoseconds;
    int provided = MPI_THREAD_SINGLE;
    /* On one machine, OpenMPI lets the kernel copy large messages from process to process; for messages of our size, copying through shared memory is
     * faster. A user's choice goes first. */
    setenv("OMPI_MCA_btl_vader_single_copy_mechanism", "none", 0);
    MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided);
    return provided >= MPI_THREAD_SERIALIZED;
}

void xpr_mpi_end(void)
{
    MPI_Finalize();
}

void xpr_mpi_abort(int code)
{
    MPI_Abort(MPI_COMM_WORLD, code);
}

int xpr_mpi_rank(void)
{
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

int xpr_mpi_count(void)
{
    int count = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    return count;
}

/* Within a step, ranks wait for each other for a short time only. */
void xpr_mpi_send(const float *numbers, int count, int to)
{
    MPI_Send(numbers, count, MPI_FLOAT, to, 0, MPI_COMM_WORLD);
}

void xpr_mpi_receive(float *numbers, int count, int from)
{
    MPI_Recv(numbers, count, MPI_FLOAT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

void xpr_mpi_broadcast(float *numbers, int count, int from)
{
    MPI_Bcast(numbers, count, MPI_FLOAT, from, MPI_COMM_WORLD);
}

void xpr_mpi_counts(int own, int *counts)
{
    MPI_Request request;
    MPI_Iallgather(&own, 1, MPI_INT, counts, 1, MPI_INT, MPI_COMM_WORLD, &request);
    wait_for(&request);
}

void xpr_mpi_gather(const unsigned char *own, int count, unsigned char *all, const int *counts, const int *starts)
{
    MPI_Request request;
    MPI_Iallgatherv(own, count, MPI_BYTE, all, counts, starts, MPI_BYTE, MPI_COMM_WORLD, &request);
    wait_for(&request);
}
