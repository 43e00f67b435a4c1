package dev.ratelimit.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mockingDetails;

import dev.ratelimit.spring.RateLimited;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.mock.mockito.MockBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** A test that replaces a limited bean as before Spring Framework 6.2. */
@SpringBootTest(classes = {MockBeanTest.Beans.class, RateLimitAutoConfiguration.class})
@SuppressWarnings("removal")
class MockBeanTest {

    static class Mails {
        @RateLimited("1/hour")
        public void send() {}
    }

    @Configuration(proxyBeanMethods = false)
    static class Beans {
        @Bean
        Mails mails() {
            return new Mails();
        }
    }

    @MockBean
    private Mails mails;

    @Test
    @DisplayName("a mock in place of a limited bean does not stop the start")
    void mock_doesNotStopTheStart() {
        assertThat(mockingDetails(mails).isMock()).isTrue();
        mails.send();
        mails.send();
    }
}
