import java.lang.reflect.Field;
import net.finmath.marketdata.model.curves.Curve;
import net.finmath.marketdata.model.curves.CurveInterpolation;
import net.finmath.marketdata.model.curves.CurveInterpolation.ExtrapolationMethod;
import net.finmath.marketdata.model.curves.CurveInterpolation.InterpolationEntity;
import net.finmath.marketdata.model.curves.CurveInterpolation.InterpolationMethod;
import net.finmath.marketdata.model.curves.DiscountCurveInterpolation;

/**
 * Threads that change a curve's parameters in clones and look up values in them, by finmath-lib itself: all clones share the lock under
 * which each makes its own interpolation. Twin: a lock for each clone, as in the library's change of 25 March 2023. No release that can be
 * fetched has that class, so the clone's lock is exchanged here. FinmathClones is the same written anew, where more of the time is contended.
 */
final class FinmathLibrary {
  private static final int POINTS = 24;
  private static final int LOOKUPS = 48;

  private static Curve curve() {
    double[] times = new double[POINTS + 1], factors = new double[POINTS + 1];
    for (int i = 0; i <= POINTS; i++) {
      times[i] = i;
      factors[i] = Math.exp(-0.03 * i);
    }
    return DiscountCurveInterpolation.createDiscountCurveFromDiscountFactors("discount", times, factors, InterpolationMethod.CUBIC_SPLINE,
        ExtrapolationMethod.CONSTANT, InterpolationEntity.LOG_OF_VALUE);
  }

  private static long work(Curve curve, Field lockOfClone, int number, int count) throws Exception {
    double[] parameters = curve.getParameter();
    double sum = 0;
    for (int i = 0; i < count; i++) {
      double before = parameters[i % POINTS];
      parameters[i % POINTS] = before + 1e-4 * (number + 1);
      Curve clone = curve.getCloneForParameter(parameters);
      if (lockOfClone != null) lockOfClone.set(clone, new Object());
      for (int look = 0; look < LOOKUPS; look++) sum += clone.getValue((look + 0.5) * POINTS / LOOKUPS);
      parameters[i % POINTS] = before;
    }
    return Math.round(sum * 1e3);
  }

  public static void main(String[] arguments) throws Exception {
    Field lock = CurveInterpolation.class.getDeclaredField("rationalFunctionInterpolationLazyInitLock");
    lock.setAccessible(true);
    Field lockOfClone = Crew.isTwin(arguments) ? lock : null;
    int count = Crew.count(arguments) / Crew.THREADS;
    Curve curve = curve();
    System.out.println(Crew.run(number -> work(curve, lockOfClone, number, count)));
  }
}
