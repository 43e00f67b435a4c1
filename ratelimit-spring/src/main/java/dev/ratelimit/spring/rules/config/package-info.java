/** The properties and annotations, and how rules are made from them. */
@NullMarked
package dev.ratelimit.spring.rules.config;

import org.jspecify.annotations.NullMarked;
