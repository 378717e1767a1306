/** Work that compiles and collects, and says what came out of it. */
public class Load {
    static int step(int i) {
        return i * 31 + 7;
    }

    public static void main(String[] args) throws Exception {
        int n = Integer.parseInt(args[0]);
        long sum = 0;
        for (int i = 0; i < n; i++) {
            byte[] b = new byte[1 << 16];
            b[i % b.length] = (byte) i;
            sum += step(i) + b[i % 7];
        }
        for (int i = 0; i < 3; i++) {
            System.gc();
        }
        System.out.println("sum " + sum);
    }
}
