package dev.ratelimit.spring;

import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.security.core.userdetails.MapReactiveUserDetailsService;
import org.springframework.security.core.userdetails.ReactiveUserDetailsService;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetails;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.crypto.password.PasswordEncoder;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;

/** Users with the password {@code secret}, which is compared by an encoder that counts. */
@Configuration(proxyBeanMethods = false)
public class Users implements Forgetful {

    private final AtomicInteger checks = new AtomicInteger();

    @Override
    public void forget() {
        checks.set(0);
    }

    /** How often a password was compared. */
    public int checks() {
        return checks.get();
    }

    private static UserDetails[] all() {
        return new UserDetails[] {user("alice"), user("bob"), user("127.0.0.1")};
    }

    private static UserDetails user(String name) {
        return User.withUsername(name).password("secret").roles("USER").build();
    }

    /** Those of a servlet application. */
    @Bean
    UserDetailsService servletUsers() {
        return new InMemoryUserDetailsManager(all());
    }

    /** Those of a WebFlux application. */
    @Bean
    ReactiveUserDetailsService reactiveUsers() {
        return new MapReactiveUserDetailsService(all());
    }

    /** Counts what it compares. */
    @Bean
    PasswordEncoder passwords() {
        return new PasswordEncoder() {
            @Override
            public String encode(@Nullable CharSequence password) {
                return String.valueOf(password);
            }

            @Override
            public boolean matches(@Nullable CharSequence password, @Nullable String encoded) {
                checks.incrementAndGet();
                return encode(password).equals(encoded);
            }
        };
    }
}
