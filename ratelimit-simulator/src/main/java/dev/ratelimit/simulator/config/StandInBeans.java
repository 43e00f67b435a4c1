package dev.ratelimit.simulator.config;

import dev.ratelimit.spring.KeyResolver;
import dev.ratelimit.spring.PlanResolver;
import dev.ratelimit.spring.rules.config.PolicyProperties;
import java.util.Collection;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.IterableConfigurationPropertySource;
import org.springframework.core.env.Environment;

/** Stands for the beans of the application that keys and plans name. They know no values but those of the log. */
final class StandInBeans {

    private static final Pattern BEAN = Pattern.compile("bean:\\s*([^\\s,]+)");
    /** The resolver of policies that name none. */
    static final String PLANS = "plans";

    private StandInBeans() {}

    /** Beans with the names that the configuration has, and those of the policies, which may have others. */
    static DefaultListableBeanFactory of(Environment environment, Collection<PolicyProperties> policies) {
        DefaultListableBeanFactory beans = new DefaultListableBeanFactory();
        Set<String> keys = new TreeSet<>();
        Set<String> plans = new TreeSet<>();
        for (ConfigurationPropertySource source : ConfigurationPropertySources.get(environment)) {
            if (source instanceof IterableConfigurationPropertySource all) {
                all.stream()
                        .filter(name -> name.toString().startsWith("ratelimit.policies."))
                        .forEach(name -> {
                            String value = environment.getProperty(name.toString(), "");
                            Matcher bean = BEAN.matcher(value);
                            while (bean.find()) {
                                keys.add(bean.group(1));
                            }
                            if (name.toString().endsWith(".plan-resolver")) {
                                plans.add(value);
                            }
                        });
            }
        }
        for (PolicyProperties policy : policies) {
            Matcher bean = BEAN.matcher(String.join(",", policy.key()));
            while (bean.find()) {
                keys.add(bean.group(1));
            }
            String resolver = policy.planResolver();
            if (resolver != null) {
                plans.add(resolver);
            }
        }
        keys.forEach(name -> beans.registerSingleton(name, (KeyResolver) request -> null));
        if (plans.isEmpty()) {
            plans.add(PLANS);
        }
        plans.stream()
                .filter(name -> !keys.contains(name))
                .forEach(name -> beans.registerSingleton(name, (PlanResolver) request -> null));
        return beans;
    }
}
