/**
 * Curves as finmath-lib's CurveInterpolation: threads change a parameter in a clone of a curve and look up values in it, and each clone makes
 * its interpolation at the first look, under a lock that all clones of a curve share. Written anew: in the library itself less than the tenth
 * of the time is waiting on two cores (FinmathLibrary). Twin: a lock for each clone (the paper's fix).
 */
final class FinmathClones {
  private static final int POINTS = 512;
  private static final int LOOKUPS = 4;

  /** A natural cubic spline through points at 0, 1, 2... */
  static final class Spline {
    private final double[] values;
    private final double[] curvatures;

    Spline(double[] values) {
      this.values = values;
      int last = values.length - 1;
      curvatures = new double[last + 1];
      double[] factors = new double[last + 1];
      for (int i = 1; i < last; i++) {
        double pivot = 4 - factors[i - 1];
        factors[i] = 1 / pivot;
        curvatures[i] = (6 * (values[i + 1] - 2 * values[i] + values[i - 1]) - curvatures[i - 1]) / pivot;
      }
      for (int i = last - 1; i > 0; i--) curvatures[i] -= factors[i] * curvatures[i + 1];
    }

    double value(double time) {
      int i = Math.min((int) time, values.length - 2);
      double right = time - i, left = 1 - right;
      return left * values[i] + right * values[i + 1]
          + ((left * left * left - left) * curvatures[i] + (right * right * right - right) * curvatures[i + 1]) / 6;
    }
  }

  static final class Curve {
    private final Object lock;
    private final double[] values;
    private Spline spline;

    Curve(double[] values, Object lock) {
      this.values = values;
      this.lock = lock;
    }

    /** As the library's curves of discount factors, which keep logarithms. */
    Curve withValue(int point, double value, boolean lockOfClone) {
      double[] changed = new double[POINTS];
      for (int i = 0; i < POINTS; i++) changed[i] = Math.log(Math.exp(-(i == point ? value : values[i])));
      return new Curve(changed, lockOfClone ? new Object() : lock);
    }

    double value(double time) {
      synchronized (lock) {
        if (spline == null) spline = new Spline(values);
      }
      return spline.value(time);
    }
  }

  private static long work(Curve curve, boolean lockOfClone, int number, int count) {
    double sum = 0;
    for (int i = 0; i < count; i++) {
      Curve clone = curve.withValue(i % POINTS, 0.03 + 1e-4 * (number + 1), lockOfClone);
      for (int look = 0; look < LOOKUPS; look++) sum += clone.value((look + 0.5) * (POINTS - 1) / LOOKUPS);
    }
    return Math.round(sum * 1e3);
  }

  public static void main(String[] arguments) throws Exception {
    boolean twin = Crew.isTwin(arguments);
    int count = Crew.count(arguments) / Crew.THREADS;
    double[] values = new double[POINTS];
    for (int i = 0; i < POINTS; i++) values[i] = 0.02 + 0.0003 * i;
    Curve curve = new Curve(values, new Object());
    System.out.println(Crew.run(number -> work(curve, twin, number, count)));
  }
}
