// Closures in a pool of the JDK's.
import java.util.concurrent.Callable
import java.util.concurrent.Executors

long spin(long x) {
    for (int i = 0; i < 2_000; i++) {
        x = x * 31 ^ i
    }
    return x
}

def pool = Executors.newFixedThreadPool(2)
def all = (0..<40).collect { int i ->
    pool.submit({ spin(i); i } as Callable)
}
println all.sum { it.get() }
pool.shutdown()
