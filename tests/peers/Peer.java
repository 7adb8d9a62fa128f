// Writes and reads HDR logs with the Java library; see compare_hdr.py.
//
//   java -cp HdrHistogram.jar Peer.java write VALUES DIGITS LOWEST OUT.hlog OUT.hist OUT.histz OUT.hgrm OUT.dlog
//   java -cp HdrHistogram.jar Peer.java read IN.hlog

import java.io.*;
import java.nio.ByteBuffer;
import java.nio.file.*;
import java.util.*;
import org.HdrHistogram.*;

public class Peer {
    static final long HIGHEST = 3_600_000_000_000L;

    public static void main(String[] arguments) throws Exception {
        if (arguments[0].equals("write")) write(arguments);
        else read(arguments[1]);
    }

    static void write(String[] arguments) throws Exception {
        int digits = Integer.parseInt(arguments[2]);
        long lowest = Long.parseLong(arguments[3]);
        Histogram all = new Histogram(lowest, HIGHEST, digits);
        HistogramLogWriter writer = new HistogramLogWriter(new PrintStream(arguments[4]));
        writer.outputComment("[Logged by the Java library]");
        writer.outputLogFormatVersion();
        writer.outputStartTime(1_700_000_000_000L);
        writer.outputLegend();
        HistogramLogWriter doubles = new HistogramLogWriter(new PrintStream(arguments[8]));
        double second = 0.0;
        for (String line : Files.readAllLines(Path.of(arguments[1]))) {
            String[] fields = line.split(" ");
            Histogram interval = new Histogram(lowest, HIGHEST, digits);
            DoubleHistogram scaled = new DoubleHistogram(digits);
            for (int place = 1; place < fields.length; place++) {
                interval.recordValue(Long.parseLong(fields[place]));
                scaled.recordValue(Long.parseLong(fields[place]) / 1e9);
            }
            if (!fields[0].equals("-")) interval.setTag(fields[0]);
            writer.outputIntervalHistogram(second, second + 1.0, interval, 1e6);
            doubles.outputIntervalHistogram(second, second + 1.0, scaled, 1.0);
            all.add(interval);
            second += 1.0;
        }
        ByteBuffer plain = ByteBuffer.allocate(all.getNeededByteBufferCapacity());
        int length = all.encodeIntoByteBuffer(plain);
        Files.write(Path.of(arguments[5]), Arrays.copyOf(plain.array(), length));
        ByteBuffer packed = ByteBuffer.allocate(all.getNeededByteBufferCapacity());
        length = all.encodeIntoCompressedByteBuffer(packed);
        Files.write(Path.of(arguments[6]), Arrays.copyOf(packed.array(), length));
        all.outputPercentileDistribution(new PrintStream(arguments[7]), 1e6);
        print(all, all.getMean() * all.getTotalCount());
    }

    static void read(String file) throws Exception {
        HistogramLogReader reader = new HistogramLogReader(file);
        Histogram all = new Histogram(3);
        double sum = 0.0;
        for (EncodableHistogram next; (next = reader.nextIntervalHistogram()) != null; ) {
            Histogram interval = (Histogram) next;
            sum += interval.getMean() * interval.getTotalCount();
            all.add(interval);
        }
        print(all, sum);
    }

    static void print(Histogram all, double sum) {
        StringBuilder text = new StringBuilder();
        for (double quantile : new double[] {50, 90, 95, 99, 99.9}) {
            text.append(text.length() == 0 ? "" : ", ").append(all.getValueAtPercentile(quantile));
        }
        System.out.printf(Locale.ROOT, "{\"count\": %d, \"sum\": %.3f, \"quantiles\": [%s], \"max\": %d}%n",
            all.getTotalCount(), sum, text, all.getMaxValue());
    }
}
