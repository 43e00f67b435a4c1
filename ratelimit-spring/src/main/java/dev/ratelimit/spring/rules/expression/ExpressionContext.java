package dev.ratelimit.spring.rules.expression;

import dev.ratelimit.spring.rules.request.RequestContext;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.expression.BeanResolver;
import org.springframework.expression.ConstructorResolver;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.IndexAccessor;
import org.springframework.expression.MethodResolver;
import org.springframework.expression.OperatorOverloader;
import org.springframework.expression.PropertyAccessor;
import org.springframework.expression.TypeComparator;
import org.springframework.expression.TypeConverter;
import org.springframework.expression.TypeLocator;
import org.springframework.expression.TypedValue;
import org.springframework.expression.spel.support.SimpleEvaluationContext;

/** What an expression can use; only the variables depend on the request. */
record ExpressionContext(RequestContext context) implements EvaluationContext {

    static final EvaluationContext METHODS = SimpleEvaluationContext.forReadOnlyDataBinding()
            .withInstanceMethods()
            .build();

    @Override
    public @Nullable Object lookupVariable(String name) {
        return ExpressionVariables.valueOf(name, context);
    }

    @Override
    public void setVariable(String name, @Nullable Object value) {
        throw new UnsupportedOperationException("variables cannot be set");
    }

    @Override
    public boolean isAssignmentEnabled() {
        return false;
    }

    @Override
    public TypedValue getRootObject() {
        return TypedValue.NULL;
    }

    @Override
    public List<PropertyAccessor> getPropertyAccessors() {
        return METHODS.getPropertyAccessors();
    }

    @Override
    public List<IndexAccessor> getIndexAccessors() {
        return METHODS.getIndexAccessors();
    }

    @Override
    public List<ConstructorResolver> getConstructorResolvers() {
        return METHODS.getConstructorResolvers();
    }

    @Override
    public List<MethodResolver> getMethodResolvers() {
        return METHODS.getMethodResolvers();
    }

    @Override
    public @Nullable BeanResolver getBeanResolver() {
        return METHODS.getBeanResolver();
    }

    @Override
    public TypeLocator getTypeLocator() {
        return METHODS.getTypeLocator();
    }

    @Override
    public TypeConverter getTypeConverter() {
        return METHODS.getTypeConverter();
    }

    @Override
    public TypeComparator getTypeComparator() {
        return METHODS.getTypeComparator();
    }

    @Override
    public OperatorOverloader getOperatorOverloader() {
        return METHODS.getOperatorOverloader();
    }
}
