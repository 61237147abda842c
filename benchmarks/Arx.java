import java.io.File;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import org.deidentifier.arx.ARXAnonymizer;
import org.deidentifier.arx.ARXConfiguration;
import org.deidentifier.arx.ARXResult;
import org.deidentifier.arx.AttributeType;
import org.deidentifier.arx.AttributeType.Hierarchy;
import org.deidentifier.arx.Data;
import org.deidentifier.arx.criteria.DistinctLDiversity;
import org.deidentifier.arx.criteria.EqualDistanceTCloseness;
import org.deidentifier.arx.criteria.KAnonymity;
import org.deidentifier.arx.metric.Metric;
import org.deidentifier.arx.metric.Metric.AggregateFunction;

/**
 * ARX as a peer of `benchmarks/search.py`: the same table, hierarchies, requirement and loss.
 *
 * <p>Arx CSV HIERARCHIES COLUMN,COLUMN,... SENSITIVE k|l|t BOUND SUPPRESSION REPETITIONS [OUT]: prints the least wall and CPU
 * seconds of the search over the repetitions, the nodes checked and the loss, as JSON. With OUT the release is written.
 */
public class Arx {
    public static void main(String[] given) throws Exception {
        String csv = given[0], folder = given[1], sensitive = given[3], model = given[4];
        double bound = Double.parseDouble(given[5]), suppression = Double.parseDouble(given[6]);
        ThreadMXBean clock = ManagementFactory.getThreadMXBean();
        double wall = Double.MAX_VALUE, cpu = Double.MAX_VALUE;
        ARXResult result = null;
        Data data = null;
        for (int i = 0; i < Integer.parseInt(given[7]); i++) {
            data = Data.create(csv, StandardCharsets.UTF_8, ';');
            for (int c = 0; c < data.getHandle().getNumColumns(); c++) {
                String name = data.getHandle().getAttributeName(c);
                data.getDefinition().setAttributeType(name, AttributeType.INSENSITIVE_ATTRIBUTE);
            }
            for (String name : given[2].split(",")) {
                File file = new File(folder, "hierarchy_" + name + ".csv");
                data.getDefinition().setAttributeType(name, Hierarchy.create(file, StandardCharsets.UTF_8, ';'));
            }
            ARXConfiguration asked = ARXConfiguration.create();
            if (model.equals("k")) {
                asked.addPrivacyModel(new KAnonymity((int) bound));
            } else {
                data.getDefinition().setAttributeType(sensitive, AttributeType.SENSITIVE_ATTRIBUTE);
                asked.addPrivacyModel(
                    model.equals("l") ? new DistinctLDiversity(sensitive, (int) bound) : new EqualDistanceTCloseness(sensitive, bound));
            }
            asked.setSuppressionLimit(suppression);
            asked.setQualityModel(Metric.createLossMetric(AggregateFunction.ARITHMETIC_MEAN));
            long busy = clock.getCurrentThreadCpuTime(), started = System.nanoTime();
            result = new ARXAnonymizer().anonymize(data, asked);
            wall = Math.min(wall, (System.nanoTime() - started) / 1e9);
            cpu = Math.min(cpu, (clock.getCurrentThreadCpuTime() - busy) / 1e9);
        }
        if (given.length > 8) result.getOutput(false).save(given[8], ';');
        System.out.printf(
            java.util.Locale.ROOT, "{\"wall\": %.4f, \"cpu\": %.4f, \"checked\": %d, \"loss\": %s}%n",
            wall, cpu, result.getProcessStatistics().getTransformationsChecked(), result.getGlobalOptimum().getHighestScore());
    }
}
