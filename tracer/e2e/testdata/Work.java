import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.zip.CRC32;

/**
 * Threads that compute the same thing again and again, with all that a virtual machine has to do
 * for it: allocation, exceptions, monitors, native methods, compiled code. Until its input ends;
 * then it says how often, and how often it came out differently.
 */
public class Work {
    static long once() {
        Random random = new Random(42);
        int[] numbers = new int[2000];
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = random.nextInt();
        }
        Arrays.sort(numbers);
        CRC32 crc = new CRC32(); // native
        StringBuilder text = new StringBuilder();
        for (int n : numbers) {
            crc.update(n);
            text.append(n);
        }
        crc.update(text.toString().getBytes());
        long sum = crc.getValue();
        double x = 1;
        for (int i = 1; i < 200; i++) {
            try {
                if (i % 3 == 0) {
                    throw new IllegalStateException("at " + i);
                }
                x = Math.sin(x) * i + Math.sqrt(x * x + i);
            } catch (IllegalStateException e) {
                sum = sum * 31 + e.getMessage().hashCode();
            }
        }
        return sum * 31 + Double.doubleToLongBits(x);
    }

    static final Object lock = new Object();

    public static void main(String[] args) throws Exception {
        long want = once();
        AtomicLong rounds = new AtomicLong(), wrong = new AtomicLong();
        Thread[] threads = new Thread[4];
        boolean[] end = new boolean[1];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(() -> {
                for (boolean ended = false; !ended; ) {
                    if (once() != want) {
                        wrong.incrementAndGet();
                    }
                    rounds.incrementAndGet();
                    synchronized (lock) {
                        ended = end[0];
                    }
                }
            });
            threads[i].start();
        }
        System.out.println("ready");
        while (System.in.read() >= 0) {
        }
        synchronized (lock) {
            end[0] = true;
        }
        for (Thread t : threads) {
            t.join();
        }
        System.out.println(rounds + " " + wrong);
    }
}
