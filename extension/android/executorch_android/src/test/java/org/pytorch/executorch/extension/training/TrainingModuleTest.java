// SPDX-License-Identifier: BSD-3-Clause
// A network learns exclusive or.
package org.pytorch.executorch.extension.training;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;
import static org.pytorch.executorch.TestPrograms.path;

import java.util.Map;
import org.junit.Test;
import org.pytorch.executorch.EValue;
import org.pytorch.executorch.ExecutorchRuntimeException;
import org.pytorch.executorch.Tensor;

public class TrainingModuleTest {
  private static float step(TrainingModule module, int a, int b) {
    EValue row = EValue.from(Tensor.fromBlob(new float[] {a, b}, new long[] {1, 2}));
    EValue label = EValue.from(Tensor.fromBlob(new long[] {a ^ b}, new long[] {1}));
    return module.executeForwardBackward("forward", row, label)[0].toTensor().getDataAsFloatArray()[0];
  }

  @Test
  public void learns() {
    try (TrainingModule module = TrainingModule.load(path("xor.pte"))) {
      SGD sgd = SGD.create(module.namedParameters("forward"), 0.1, 0.9, 0.0, 0.0, true);
      float worst = 0;
      for (int epoch = 0; epoch < 500; ++epoch) {
        worst = 0;
        for (int row = 0; row < 4; ++row) {
          worst = Math.max(worst, step(module, row >> 1, row & 1));
          sgd.step(module.namedGradients("forward"));
        }
      }
      assertTrue("loss " + worst, worst < 0.01);
    }
  }

  @Test
  public void aStepIsTheRateTimesTheGradient() {
    TrainingModule module = TrainingModule.load(path("xor.pte"));
    Map<String, Tensor> parameters = module.namedParameters("forward");
    step(module, 1, 0);
    Map<String, Tensor> gradients = module.namedGradients("forward");
    assertEquals(parameters.keySet(), gradients.keySet());
    String name = parameters.keySet().iterator().next();
    float[] before = parameters.get(name).getDataAsFloatArray();
    float[] gradient = gradients.get(name).getDataAsFloatArray();
    SGD.create(parameters, 0.5).step(gradients);
    module.close();
    System.gc();
    float[] after = parameters.get(name).getDataAsFloatArray(); // its memory outlives the module
    for (int i = 0; i < before.length; ++i) {
      assertEquals(before[i] - 0.5f * gradient[i], after[i], 1e-6f);
    }
  }

  @Test
  public void wrongUse() {
    TrainingModule module = TrainingModule.load(path("xor.pte"));
    assertThrows(ExecutorchRuntimeException.class, () -> module.namedGradients("forward"));
    assertThrows(ExecutorchRuntimeException.class, () -> module.namedParameters("other"));
    assertFalse(module.namedParameters("forward").isEmpty());
    module.close();
    module.close();
    assertThrows(IllegalStateException.class, () -> module.namedParameters("forward"));
    assertThrows(IllegalArgumentException.class, () -> TrainingModule.load(path("none.pte")));
    TrainingModule other = TrainingModule.load(path("add.pte"));
    assertThrows(ExecutorchRuntimeException.class, () -> other.namedParameters("forward"));
  }
}
