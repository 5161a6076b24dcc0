import java.util.List;

/**
 * {@code FlowRunner FIRST LAST [shadows]}: runs the programs of these numbers, or their shadows, and prints what was seen of each:
 * the values, and behind them the taints.
 */
public final class FlowRunner {
    public static void main(String[] args) throws Exception {
        boolean shadows = args.length > 2;
        for (int i = Integer.parseInt(args[0]); i <= Integer.parseInt(args[1]); i++) {
            if (shadows) {
                FlowShadow.start();
            } else {
                FlowTracker.start();
            }
            String end = "ends";
            try {
                Class.forName((shadows ? "Shadow" : "Program") + i).getMethod("run").invoke(null);
            } catch (java.lang.reflect.InvocationTargetException thrown) {
                end = thrown.getCause().getClass().getSimpleName().replace("Shadow", "Program");
            }
            print(i, shadows ? FlowShadow.values : FlowTracker.values, shadows ? FlowShadow.taints : FlowTracker.taints);
            System.out.println(i + " " + end);
        }
    }

    private static void print(int program, List<String> values, List<String> taints) {
        for (int i = 0; i < values.size(); i++) System.out.println(program + " " + values.get(i) + " " + taints.get(i));
    }
}
