/** The way of a request: from the rules that apply to it to its charges, its wait, its headers or its refusal. */
@NullMarked
package dev.ratelimit.spring.rules.decision;

import org.jspecify.annotations.NullMarked;
