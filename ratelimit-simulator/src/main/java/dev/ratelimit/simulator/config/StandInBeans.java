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

/** Stands for the beans of the application that keys and plans name. They know no values but those of the log. */
final class StandInBeans {

    private static final Pattern BEAN = Pattern.compile("bean:\\s*([^\\s,]+)");
    /** The resolver of policies that name none. */
    static final String PLANS = "plans";

    private StandInBeans() {}

    /** Beans with the names that the policies have. */
    static DefaultListableBeanFactory of(Collection<PolicyProperties> policies) {
        DefaultListableBeanFactory beans = new DefaultListableBeanFactory();
        Set<String> keys = new TreeSet<>();
        Set<String> plans = new TreeSet<>();
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
