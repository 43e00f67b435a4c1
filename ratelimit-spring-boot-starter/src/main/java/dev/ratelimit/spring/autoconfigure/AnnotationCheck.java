package dev.ratelimit.spring.autoconfigure;

import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.RateLimitExempt;
import dev.ratelimit.spring.RateLimited;
import dev.ratelimit.spring.config.AnnotatedRules;
import java.lang.reflect.Method;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.context.ApplicationContext;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils.MethodFilter;
import org.springframework.web.servlet.mvc.method.RequestMappingInfoHandlerMapping;

/** Warns of annotations that have no effect, as no request is dispatched to where they are. */
final class AnnotationCheck implements SmartInitializingSingleton {

    private static final Logger log = LoggerFactory.getLogger(AnnotationCheck.class);

    private final ApplicationContext context;

    AnnotationCheck(ApplicationContext context) {
        this.context = context;
    }

    @Override
    public void afterSingletonsInstantiated() {
        Set<Method> handlers = new HashSet<>();
        Set<Class<?>> controllers = new HashSet<>();
        context.getBeansOfType(RequestMappingInfoHandlerMapping.class, true, false)
                .values()
                .forEach(mapping -> mapping.getHandlerMethods().values().forEach(handler -> {
                    handlers.add(handler.getMethod());
                    controllers.add(handler.getBeanType());
                }));
        if (context.getBeanNamesForType(ActiveRules.class).length == 0) {
            handlers.stream().filter(AnnotatedRules::isOn).findFirst().ifPresent(AnnotationCheck::refuse);
        }
        for (String name : context.getBeanDefinitionNames()) {
            Class<?> type = context.getType(name, false);
            if (type != null
                    && AnnotationUtils.isCandidateClass(type, List.of(RateLimited.class, RateLimitExempt.class))) {
                check(ClassUtils.getUserClass(type), handlers, controllers);
            }
        }
    }

    private static void refuse(Method method) {
        throw new RateLimitConfigurationException(
                "the annotation on " + method.getDeclaringClass().getSimpleName() + "." + method.getName() + "()",
                null,
                "the controller was registered after the limits were set up, so it would not be limited; write a policy under"
                        + " ratelimit.policies, too");
    }

    private static void check(Class<?> type, Set<Method> handlers, Set<Class<?>> controllers) {
        MethodFilter annotated = AnnotatedRules::isOn;
        for (Method method : MethodIntrospector.selectMethods(type, annotated)) {
            if (!handlers.contains(method)) {
                log.warn(
                        "The annotation on {}.{}() has no effect: no request is dispatched to this method",
                        type.getSimpleName(),
                        method.getName());
            }
        }
        if (AnnotatedRules.isOn(type) && !controllers.contains(type)) {
            log.warn(
                    "The annotation on {} has no effect: it is no controller with handler methods",
                    type.getSimpleName());
        }
    }
}
