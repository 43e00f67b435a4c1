/** What users write, in properties and annotations, and how it becomes rules. */
@NullMarked
package dev.ratelimit.spring.config;

import org.jspecify.annotations.NullMarked;
