package dev.ratelimit.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.Mockito.mockingDetails;

import dev.ratelimit.spring.RateLimitExceededException;
import dev.ratelimit.spring.RateLimited;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.test.context.bean.override.mockito.MockitoBean;

/** A test that replaces limited beans. */
@MockitoBean(types = MockedBeanTest.Letters.class)
@SpringBootTest(classes = {MockedBeanTest.Beans.class, RateLimitAutoConfiguration.class})
class MockedBeanTest {

    static class Mails {
        @RateLimited("1/hour")
        public void send() {}
    }

    static class Letters extends Mails {}

    static class Parcels extends Mails {}

    @Configuration(proxyBeanMethods = false)
    static class Beans {
        @Bean
        Mails mails() {
            return new Mails();
        }

        @Bean
        Letters letters() {
            return new Letters();
        }

        @Bean
        Parcels parcels() {
            return new Parcels();
        }
    }

    @MockitoBean("mails")
    private Mails mails;

    @Autowired
    private Letters letters;

    @Autowired
    private Parcels parcels;

    @Test
    @DisplayName("mocks in place of limited beans do not stop the start, and the others are limited")
    void mock_doesNotStopTheStart() {
        assertThat(mockingDetails(mails).isMock()).isTrue();
        assertThat(mockingDetails(letters).isMock()).isTrue();
        mails.send();
        mails.send();
        letters.send();
        letters.send();

        parcels.send();
        assertThatExceptionOfType(RateLimitExceededException.class).isThrownBy(() -> parcels.send());
    }
}
