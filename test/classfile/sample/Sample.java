import java.util.function.Function;

/** Every shape of control flow that the edits must respect; its trace is compared with Sample.expected. */
public class Sample {
    private final int value;

    Sample(int value) {
        this.value = value;
    }

    Sample(Function<Integer, Integer> argument) {
        this(argument.apply(1) > 0 ? 7 : 8);
    }

    static void loopFromTheStart(int[] left) {
        while (left[0]-- > 0) {
        }
    }

    static long twoReturns(boolean first) {
        if (first) return 1L;
        return 2L;
    }

    static int throwsAndCatches() {
        try {
            throw new IllegalStateException("inside");
        } catch (IllegalStateException caught) {
            return caught.getMessage().length();
        } finally {
            System.out.println("finally");
        }
    }

    static void throwsOut() {
        throw new IllegalArgumentException("out");
    }

    static String runs(Runnable body) {
        try {
            body.run();
            return "ran";
        } catch (IllegalArgumentException caught) {
            return "caught " + caught.getMessage();
        }
    }

    static synchronized double switches(String text, double factor) {
        switch (text) {
            case "a": return factor;
            case "b": return 2 * factor;
            default: throw new IllegalArgumentException(text);
        }
    }

    int locked(Object lock, Function<Integer, Integer> body) {
        synchronized (lock) {
            return body.apply(value);
        }
    }

    static void print(Object result) {
        System.out.println("= " + result);
    }

    public static void main(String[] args) {
        loopFromTheStart(new int[] {3});
        print(twoReturns(true));
        print(twoReturns(false));
        print(throwsAndCatches());
        print(runs(() -> System.out.println("body")));
        print(runs(Sample::throwsOut));
        print(switches("b", 1.5));
        try {
            switches("c", 1);
        } catch (IllegalArgumentException caught) {
            print(caught.getMessage());
        }
        Sample sample = new Sample(one -> one + 1);
        print(sample.locked(new Object(), number -> number * 6));
        try {
            sample.locked(null, number -> number);
        } catch (NullPointerException caught) {
            print("null");
        }
        try {
            new Sample(one -> one / (one - 1));
        } catch (ArithmeticException caught) {
            print("no sample");
        }
    }
}
