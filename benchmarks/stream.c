/* A STREAM triad of our own: a[i] = b[i] + 3 c[i] on all threads, best of the given repetitions, in bytes/s by formula.
   Written for this comparison; built by peers.py with the flags named there. */
#include <stdio.h>
#include <stdlib.h>
#include <omp.h>

int main(int argc, char **argv)
{
    long n = argc > 1 ? atol(argv[1]) : 1L << 25;
    int repetitions = argc > 2 ? atoi(argv[2]) : 10;
    double *a = aligned_alloc(64, n * sizeof *a), *b = aligned_alloc(64, n * sizeof *b), *c = aligned_alloc(64, n * sizeof *c);
    if (!a || !b || !c)
        return 1;
#pragma omp parallel for schedule(static) /* first touch by the thread that uses it */
    for (long i = 0; i < n; i++) {
        a[i] = 0;
        b[i] = i % 7;
        c[i] = i % 5;
    }
    double best = 1e30;
    for (int r = 0; r < repetitions; r++) {
        double start = omp_get_wtime();
#pragma omp parallel for simd schedule(static)
        for (long i = 0; i < n; i++)
            a[i] = b[i] + 3 * c[i];
        double seconds = omp_get_wtime() - start;
        if (seconds < best)
            best = seconds;
    }
    for (long i = 0; i < n; i += 99991)
        if (a[i] != i % 7 + 3.0 * (i % 5))
            return 2;
    printf("%.6e\n", 3.0 * n * sizeof *a / best);
    return 0;
}
