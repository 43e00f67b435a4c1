package dev.ratelimit.spring.boot.autoconfigure;

import dev.ratelimit.spring.boot.version.Boot;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;

/** Warns if modules of different versions are together, which were not tested with each other. */
final class ModuleVersionCheck implements ApplicationContextInitializer<ConfigurableApplicationContext> {

    private static final Logger log = LoggerFactory.getLogger(ModuleVersionCheck.class);

    @Override
    public void initialize(ConfigurableApplicationContext context) {
        mistakes(getClass().getPackage().getImplementationVersion(), Modules.in(context.getClassLoader()))
                .forEach(log::warn);
    }

    /**
     * What does not fit together, as sentences.
     *
     * @param own the version of this module, if it is known
     * @param others the other modules
     */
    static List<String> mistakes(@Nullable String own, List<Modules.Module> others) {
        return others.stream()
                .filter(module -> own != null && !module.version().equals(own))
                .map(module -> module.name() + " has the version " + module.version()
                        + ", but " + Boot.MODULES + " " + own
                        + ". Use the same version for all, which ratelimit-bom manages")
                .sorted()
                .toList();
    }
}
