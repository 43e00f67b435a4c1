package dev.ratelimit.spring.boot.method;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import org.springframework.aop.support.AopUtils;
import org.springframework.util.ClassUtils;

/**
 * The method that is meant by a call, and the class of the application that it belongs to.
 *
 * @param type the class of the bean, or the interface if its class is generated
 * @param method as the type declares or inherits it; never a bridge method
 */
public record CallTarget(Class<?> type, Method method) {

    /** The target of a call of this method on an object of this class. */
    static CallTarget of(Class<?> targetClass, Method method) {
        boolean generated = Proxy.isProxyClass(targetClass);
        Class<?> type = generated ? method.getDeclaringClass() : ClassUtils.getUserClass(targetClass);
        Method specific = AopUtils.getMostSpecificMethod(method, type);
        Class<?> declaring = specific.getDeclaringClass();
        return new CallTarget(declaring.isAssignableFrom(type) ? type : declaring, specific);
    }
}
