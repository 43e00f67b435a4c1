/** The filters: a request is charged, admitted, refused or lets its permits come, without a thread. */
@NullMarked
package dev.ratelimit.spring.reactive.filter;

import org.jspecify.annotations.NullMarked;
