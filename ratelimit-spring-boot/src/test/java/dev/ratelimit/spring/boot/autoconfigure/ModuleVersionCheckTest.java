package dev.ratelimit.spring.boot.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.boot.version.Boot;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.core.io.support.SpringFactoriesLoader;

class ModuleVersionCheckTest {

    @Test
    void modules_ofOtherVersions_areNamed() {
        List<Modules.Module> others =
                List.of(new Modules.Module("ratelimit-core", "0.0.9"), new Modules.Module("ratelimit-redis", "0.1.0"));

        assertThat(ModuleVersionCheck.mistakes("0.1.0", others))
                .containsExactly("ratelimit-core has the version 0.0.9, but " + Boot.MODULES + " 0.1.0. Use the same"
                        + " version for all, which ratelimit-bom manages");
    }

    @Test
    void modules_ofUnknownVersions_fit() {
        assertThat(ModuleVersionCheck.mistakes(null, List.of(new Modules.Module("ratelimit-core", "0.0.9"))))
                .isEmpty();
        assertThat(ModuleVersionCheck.mistakes("0.1.0", List.of())).isEmpty();
    }

    @Test
    void check_isMadeAtEachStart() {
        assertThat(SpringFactoriesLoader.loadFactories(ApplicationContextInitializer.class, null))
                .hasAtLeastOneElementOfType(ModuleVersionCheck.class);
    }
}
