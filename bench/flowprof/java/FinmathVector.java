import java.util.Vector;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * Threads that value the products in a Vector one after the other, as finmath-lib's solver does once its clones have their own locks:
 * written anew, for in the library itself nobody is seen to wait here on two cores. Get and size only read, and exclude each
 * other all the same. Twin: a Vector with a reader-writer lock (the paper's fix).
 */
final class FinmathVector {
  private static final int PRODUCTS = 48;
  private static final int PAYMENTS = 48;

  record Product(double rate) {
    double value(double shift) {
      double sum = 0, factor = 1;
      for (int i = 0; i < PAYMENTS; i++) {
        factor /= 1 + shift;
        sum += rate * factor;
      }
      return sum;
    }
  }

  private static final class SharedVector<E> extends Vector<E> {
    private static final long serialVersionUID = 1;
    private final transient ReentrantReadWriteLock lock = new ReentrantReadWriteLock();

    @Override
    @SuppressWarnings("unchecked")
    public E get(int index) {
      lock.readLock().lock();
      try {
        if (index >= elementCount) throw new ArrayIndexOutOfBoundsException(index);
        return (E) elementData[index];
      } finally {
        lock.readLock().unlock();
      }
    }

    @Override
    public int size() {
      lock.readLock().lock();
      try {
        return elementCount;
      } finally {
        lock.readLock().unlock();
      }
    }
  }

  private static long work(Vector<Product> products, int number, int count) {
    double sum = 0;
    for (int i = 0; i < count; i++) {
      double shift = 0.01 + 1e-9 * (number * count + i);
      for (int p = 0; p < products.size(); p++) sum += products.get(p).value(shift);
    }
    return Math.round(sum);
  }

  public static void main(String[] arguments) throws Exception {
    Vector<Product> products = Crew.isTwin(arguments) ? new SharedVector<>() : new Vector<>();
    int count = Crew.count(arguments) / Crew.THREADS;
    for (int p = 0; p < PRODUCTS; p++) products.add(new Product(0.03 + 0.001 * p));
    System.out.println(Crew.run(number -> work(products, number, count)));
  }
}
