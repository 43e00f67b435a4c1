package dev.ratelimit.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.RateLimited;
import dev.ratelimit.spring.RawClient;
import dev.ratelimit.spring.RunningApp;
import java.nio.file.Path;
import java.util.Set;
import org.apache.catalina.Context;
import org.apache.catalina.LifecycleException;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.startup.Tomcat;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.web.servlet.support.SpringBootServletInitializer;
import org.springframework.web.SpringServletContainerInitializer;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** A container other than Spring Boot's, which the application is deployed to. */
@ExtendWith(OutputCaptureExtension.class)
@Tag("slow")
class WarTest {

    @RestController
    static class Shop {
        @GetMapping("/free")
        String free() {
            return "free";
        }

        @GetMapping("/limited")
        @RateLimited(value = "2/hour", key = "ip")
        String limited() {
            return "limited";
        }
    }

    /** What the container finds in the war. */
    static class War extends SpringBootServletInitializer {
        @Override
        protected SpringApplicationBuilder configure(SpringApplicationBuilder application) {
            return application
                    .sources(RunningApp.WithoutSecurity.class, Shop.class)
                    .properties("spring.main.banner-mode=off", "logging.level.root=warn")
                    .properties("logging.level.dev.ratelimit=info", "ratelimit.policies.all.limit=5/hour");
        }
    }

    private static Tomcat container(Path directory) {
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(directory.toString());
        Connector connector = new Connector();
        connector.setProperty("address", "127.0.0.1");
        connector.setPort(0);
        tomcat.setConnector(connector);
        Context shop = tomcat.addContext("/shop", directory.toString());
        shop.addServletContainerInitializer(new SpringServletContainerInitializer(), Set.of(War.class));
        return tomcat;
    }

    @Test
    @DisplayName("F14 a war in a separate container is limited and logs its limits")
    void war_inAContainer_isLimited_andSaysSo(@TempDir Path directory, CapturedOutput output)
            throws LifecycleException {
        Tomcat tomcat = container(directory);
        tomcat.start();
        try {
            RawClient client = new RawClient(tomcat.getConnector().getLocalPort());

            assertThat(client.get("/shop/limited").status()).isEqualTo(200);
            assertThat(client.get("/shop/limited").status()).isEqualTo(200);
            assertThat(client.get("/shop/limited").status()).isEqualTo(429);
            for (int i = 0; i < 3; i++) {
                assertThat(client.get("/shop/free").body()).contains("free");
            }
            assertThat(client.get("/shop/free").status()).isEqualTo(429);
        } finally {
            tomcat.stop();
            tomcat.destroy();
        }

        assertThat(output)
                .contains("Rate limit 'all': 5/hour (token-bucket) shared by all callers, on all paths")
                .contains("Rate limit 'Shop.limited': 2/hour (token-bucket) by ip, where annotated");
    }
}
