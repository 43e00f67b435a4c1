package dev.ratelimit.spring.config;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import dev.ratelimit.spring.AddressRange;
import dev.ratelimit.spring.Call;
import dev.ratelimit.spring.ClientAddress;
import dev.ratelimit.spring.ForwardedHeader;
import dev.ratelimit.spring.KeyEncoder;
import dev.ratelimit.spring.MissingKey;
import dev.ratelimit.spring.RuleKey;
import java.lang.management.ManagementFactory;
import java.util.Enumeration;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.http.server.PathContainer;
import org.springframework.mock.web.MockHttpServletRequest;

/** Addresses and keys take no memory but that of the key itself. */
class KeyAllocationTest {

    private static final int CALLS = 20_000;

    /** A request that hands out what it has without making anything anew. */
    private static final class ThriftyRequest extends MockHttpServletRequest {

        @SuppressWarnings("JdkObsolete") // it is what requests hand out
        private static final class Lines implements Enumeration<String> {
            private boolean more;

            @Override
            public boolean hasMoreElements() {
                return more;
            }

            @Override
            public String nextElement() {
                more = false;
                return "198.51.100.66, 2001:db8:0:1::7, 10.1.1.1";
            }
        }

        private final Lines lines = new Lines();

        @Override
        public String getRemoteAddr() {
            return "10.0.0.1";
        }

        @Override
        public Enumeration<String> getHeaders(String name) {
            lines.more = name.equals("X-Forwarded-For");
            return lines;
        }
    }

    private static long allocatedBy(Supplier<?> work) {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long thread = Thread.currentThread().getId();
        Object last = null;
        for (int i = 0; i < CALLS; i++) {
            last = work.get();
        }
        long before = threads.getThreadAllocatedBytes(thread);
        for (int i = 0; i < CALLS; i++) {
            last = work.get();
        }
        long allocated = threads.getThreadAllocatedBytes(thread) - before;
        assertThat(last).isNotNull();
        return allocated / CALLS;
    }

    private static Call call(MockHttpServletRequest request) {
        ClientAddress addresses = new ClientAddress(
                List.of(AddressRange.parse("192.0.2.0/24"), AddressRange.parse("10.0.0.0/8")), ForwardedHeader.ANY);
        return new Call(request, PathContainer.parsePath("/"), null, addresses, () -> new KeyEncoder(false, 32, 64));
    }

    private static RuleKey key(String... parts) {
        return new KeyParser(new Resolvers(new DefaultListableBeanFactory())).parse(List.of(parts), MissingKey.IP);
    }

    @Test
    void findingAnAddress_allocatesNothingButTheCall() {
        ThriftyRequest request = new ThriftyRequest();
        RuleKey shared = key("endpoint");

        long without = allocatedBy(() -> of(shared, call(request)));
        long with = allocatedBy(() -> {
            Call call = call(request);
            call.address();
            return of(shared, call);
        });

        assertThat(call(request).addressText()).isEqualTo("2001:db8:0:1:0:0:0:7");
        assertThat(with - without).isLessThan(8);
    }

    @Test
    void key_allocatesItselfOnly() {
        ThriftyRequest request = new ThriftyRequest();
        request.setUserPrincipal(() -> "alice@example.org");
        Call call = call(request);
        call.leadsTo("GET /orders/{id}", Map.of());

        for (RuleKey key : List.of(key("ip"), key("user", "endpoint"), key("ip", "method"), key("principal"))) {
            long length = of(key, call).length();
            long string = 24 + (16L + length + 7) / 8 * 8;

            assertThat(allocatedBy(() -> of(key, call))).as(key.toString()).isLessThanOrEqualTo(string);
        }
    }

    private static String of(RuleKey key, Call call) {
        String made = key.of(call);
        if (made == null) {
            throw new AssertionError("no key");
        }
        return made;
    }
}
