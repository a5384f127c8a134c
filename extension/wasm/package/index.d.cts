// SPDX-License-Identifier: BSD-3-Clause
import type { load as Load } from "./index.mjs";
declare const load: typeof Load & { load: typeof Load };
export = load;
