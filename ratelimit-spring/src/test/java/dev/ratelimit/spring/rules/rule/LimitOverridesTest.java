package dev.ratelimit.spring.rules.rule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ratelimit.spring.WebRequest;
import dev.ratelimit.spring.rules.address.AddressRange;
import dev.ratelimit.spring.rules.address.ClientAddress;
import dev.ratelimit.spring.rules.address.ForwardedHeader;
import dev.ratelimit.spring.rules.request.Endpoint;
import dev.ratelimit.spring.rules.request.KeyEncoder;
import dev.ratelimit.spring.rules.request.RecordedRequest;
import dev.ratelimit.spring.rules.request.RequestContext;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class LimitOverridesTest {

    private final RequestContext withoutAddress = new RequestContext(
            new RecordedRequest() {
                @Override
                public WebRequest received() {
                    throw new UnsupportedOperationException("no address");
                }
            },
            new RequestContext.Sources(
                    new ClientAddress(List.of(), ForwardedHeader.ANY),
                    RecordedRequest.leadingTo(Endpoint.UNMAPPED),
                    () -> new KeyEncoder(false, 32, 64)));

    private static LimitOverrides overrides(LimitOverrides.Network... networks) {
        return new LimitOverrides(
                List.of(), Map.of(), List.of(networks), null, Map.of(), LimitOverride.Fixed.UNLIMITED);
    }

    @Test
    void of_withoutNetworks_needsNoAddress() {
        assertThat(overrides().of(withoutAddress)).isEqualTo(LimitOverride.Fixed.UNLIMITED);
    }

    @Test
    void of_withNetworks_needsTheAddress() {
        LimitOverrides overrides =
                overrides(new LimitOverrides.Network(AddressRange.parse("10.0.0.0/8"), LimitOverride.Fixed.BLOCKED));

        assertThatThrownBy(() -> overrides.of(withoutAddress)).hasMessage("no address");
    }
}
