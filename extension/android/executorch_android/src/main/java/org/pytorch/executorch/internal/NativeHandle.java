// SPDX-License-Identifier: BSD-3-Clause
// Owns a native object on behalf of a Java object: frees it when told to, or when the Java object is garbage.
package org.pytorch.executorch.internal;

import java.lang.ref.PhantomReference;
import java.lang.ref.ReferenceQueue;
import java.util.Collections;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;

/** Threads: any. The owner's locks see to it that no call uses the object while it is freed. */
public final class NativeHandle extends PhantomReference<Object> {
  private static final ReferenceQueue<Object> GARBAGE = new ReferenceQueue<>();
  private static final Set<NativeHandle> ALL = Collections.synchronizedSet(new HashSet<NativeHandle>());

  static {
    Thread thread =
        new Thread(
            new Runnable() {
              @Override
              public void run() {
                freeGarbage();
              }
            },
            "executorch-free");
    thread.setDaemon(true);
    thread.start();
  }

  private final AtomicLong address;

  public NativeHandle(Object owner, long address) {
    super(owner, GARBAGE);
    this.address = new AtomicLong(address);
    ALL.add(this);
  }

  /** 0 once it is freed. */
  public long address() {
    return address.get();
  }

  public boolean isFreed() {
    return address() == 0;
  }

  /** No effect the second time. */
  public void free() {
    long freed = address.getAndSet(0);
    if (freed != 0) {
      ALL.remove(this);
      Natives.free(freed);
    }
  }

  private static void freeGarbage() {
    while (true) {
      try {
        ((NativeHandle) GARBAGE.remove()).free();
      } catch (InterruptedException ignored) {
        // Nobody interrupts this thread for a reason that concerns it.
      }
    }
  }
}
