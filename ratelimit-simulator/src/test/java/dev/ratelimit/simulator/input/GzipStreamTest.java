package dev.ratelimit.simulator.input;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.BufferedInputStream;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import java.util.zip.CRC32;
import java.util.zip.GZIPOutputStream;
import java.util.zip.ZipException;
import org.junit.jupiter.api.Test;

class GzipStreamTest {

    private static byte[] member(byte[] bytes) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (GZIPOutputStream zip = new GZIPOutputStream(out)) {
            zip.write(bytes);
        }
        return out.toByteArray();
    }

    private static byte[] member(String text) throws IOException {
        return member(text.getBytes(StandardCharsets.UTF_8));
    }

    private static byte[] joined(byte[]... all) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (byte[] one : all) {
            out.write(one);
        }
        return out.toByteArray();
    }

    /** As from a pipe, which does not know what is to come. */
    private static InputStream byteByByte(byte[] bytes) {
        return new FilterInputStream(new ByteArrayInputStream(bytes)) {
            @Override
            public int read(byte[] to, int from, int length) throws IOException {
                return super.read(to, from, Math.min(1, length));
            }

            @Override
            public int available() {
                return 0;
            }
        };
    }

    private static String read(byte[] bytes) throws IOException {
        String whole;
        try (GzipStream in = new GzipStream(new BufferedInputStream(new ByteArrayInputStream(bytes)))) {
            whole = new String(in.readAllBytes(), StandardCharsets.UTF_8);
            assertThat(in.read()).isEqualTo(-1);
        }
        try (GzipStream in = new GzipStream(byteByByte(bytes))) {
            assertThat(new String(in.readAllBytes(), StandardCharsets.UTF_8)).isEqualTo(whole);
        }
        return whole;
    }

    @Test
    void members_areReadOneAfterAnother() throws IOException {
        assertThat(read(joined(member("a\n"), member(""), member("b\n"), new byte[100])))
                .isEqualTo("a\nb\n");
    }

    @Test
    void largeMembers_areReadAsTheyAre() throws IOException {
        byte[] bytes = new byte[300_000];
        new Random(1).nextBytes(bytes);

        try (GzipStream in = new GzipStream(new ByteArrayInputStream(joined(member(bytes), member(bytes))))) {
            assertThat(in.readAllBytes()).isEqualTo(joined(bytes, bytes));
        }
    }

    @Test
    void headerWithAllFields_isSkipped() throws IOException {
        byte[] plain = member("text");
        byte[] header = Arrays.copyOf(plain, 10);
        header[3] = 2 | 4 | 8 | 16;
        byte[] fields = {2, 0, 'x', 'y', 'n', 'a', 'm', 'e', 0, 'c', 0};
        CRC32 sum = new CRC32();
        sum.update(joined(header, fields));
        byte[] checksum = {(byte) sum.getValue(), (byte) (sum.getValue() >> 8)};

        assertThat(read(joined(header, fields, checksum, Arrays.copyOfRange(plain, 10, plain.length))))
                .isEqualTo("text");
    }

    @Test
    void somethingElseAfterAMember_fails() throws IOException {
        for (String junk : new String[] {"j", "junk", "a line that is not compressed, and longer than a header\n"}) {
            byte[] file = joined(member("a\n"), junk.getBytes(StandardCharsets.UTF_8));

            assertThatThrownBy(() -> read(file))
                    .isInstanceOf(ZipException.class)
                    .hasMessage("there is something else after a member");
        }
    }

    @Test
    void memberThatIsCut_fails_whereverItIs() throws IOException {
        byte[] whole = member("second\n");
        for (int length = 1; length < whole.length; length++) {
            byte[] file = joined(member("first\n"), Arrays.copyOf(whole, length));

            assertThatThrownBy(() -> read(file)).as("after %d bytes", length).isInstanceOf(EOFException.class);
        }
    }

    @Test
    void memberThatIsDamaged_fails() throws IOException {
        byte[] file = member("a text that is long enough");
        file[file.length - 6]++;

        assertThatThrownBy(() -> read(file)).isInstanceOf(ZipException.class).hasMessage("Corrupt GZIP trailer");
    }
}
