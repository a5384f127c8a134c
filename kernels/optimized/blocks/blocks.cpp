// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/kernels/optimized/blocks/blocks.h>

#include <algorithm>
#include <cstring>

#include <executorch/kernels/optimized/blocks/blocks_simd.h>
#include <executorch/runtime/core/portable_type/half.h>
#include <executorch/runtime/kernel/thread_parallel_interface.h>

namespace executorch::kernels::optimized {

namespace {

using ::executorch::extension::get_num_threads;
using ::executorch::extension::get_thread_num;
using ::executorch::extension::parallel_for;

constexpr int64_t kCacheBytes = int64_t{1} << 19;  // of activations, in the second-level cache
constexpr int64_t kMinRowsAtOnce = 48;
// Of panels that are unpacked at a time: two of them, and what they are multiplied with, fit the
// first-level cache.
constexpr int64_t kMaxUnitsAtOnce = 24;
constexpr int64_t kWorkPerTask = int64_t{1} << 15;  // multiplications
constexpr int64_t kMaxPanelsOfTile = 8;             // of results that are finished together

int64_t lines(int64_t bytes) {
  return (bytes + 63) / 64 * 64;
}

float half_at(const uint8_t* from) {
  uint16_t bits;
  std::memcpy(&bits, from, sizeof bits);
  return static_cast<float>(c10::Half(bits, c10::Half::from_bits()));
}

int plane_field(const uint8_t* plane, int bits, int64_t column, int64_t row) {
  const int64_t quad = column / 4, per_byte = 8 / bits;
  const uint8_t byte = plane[quad / per_byte * kQuadBytes + row * 4 + column % 4];
  return byte >> (quad % per_byte * bits) & ((1 << bits) - 1);
}

// A code, less its offset.
int value_at(const BlockFormat& f, const uint8_t* planes, int64_t column, int64_t row) {
  int code = plane_field(planes, f.low_bits, column, row);
  if (f.high_bits != 0) {
    code |= plane_field(planes + plane_bytes(f.low_bits), f.high_bits, column, row) << f.low_bits;
  }
  return (f.is_table ? kTableValues[code] : code) - f.offset;
}

float bfloat16_at(const uint8_t* from) {
  uint16_t upper;
  std::memcpy(&upper, from, sizeof upper);
  const uint32_t bits = static_cast<uint32_t>(upper) << 16;
  float number;
  std::memcpy(&number, &bits, sizeof number);
  return number;
}

struct ScaleAndMinimum {
  float scale, minimum;
};

ScaleAndMinimum numbers_at(const BlockFormat& f, const uint8_t* factors, const uint8_t* unit,
                           int64_t group, int64_t row) {
  const uint8_t* minima = unit + scale_bytes(f);
  const int64_t byte = group * kPanelRows + row;
  ScaleAndMinimum found{0.0f, 0.0f};
  if (f.by_rows) {
    found.scale = bfloat16_at(factors + 2 * row);
  } else if (f.byte_scales) {
    const int scale = f.signed_scales ? static_cast<int8_t>(unit[byte]) : unit[byte];
    found.scale = half_at(factors + 2 * row) * static_cast<float>(scale);
  } else {
    found.scale = half_at(unit + 2 * row);
  }
  if (f.minima == Minima::kHalf) {
    found.minimum = half_at(minima + 2 * row);
  } else if (f.minima == Minima::kByte) {
    found.minimum = -half_at(factors + 2 * (kPanelRows + row)) * static_cast<float>(minima[byte]);
  }
  return found;
}

// ---- Many rows: where things lie in scratch memory ----

struct Layout {
  int64_t rows, k, threads;
  int64_t codes, scales, sums, whole, starts, rest, panel_codes, panel_numbers, tile, thread;

  // `given`: the rows are int8 already, for a format by rows.
  Layout(int64_t k, int64_t rows, bool given = false)
      : rows(rows),
        k(k),
        threads(get_num_threads()),
        codes(given ? 0 : lines(rows * k)),
        scales(given ? 0 : lines(rows * k / kUnit * 4)),
        sums(given ? 0 : lines(rows * k / 16 * 4)),
        whole(lines(rows * k / 16 * 4)),
        starts(whole),
        rest(given ? 0 : lines(k * 4)),
        panel_codes(kMaxUnitsAtOnce * kUnit * kPanelRows),
        panel_numbers(kMaxUnitsAtOnce * 2 * kPanelRows * 4),
        tile(lines(rows * kMaxPanelsOfTile * kPanelRows * 4)),
        thread(rest + tile + kMaxPanelsAtOnce * (panel_codes + 2 * panel_numbers)) {}
  int64_t bytes() const { return codes + scales + sums + whole + starts + threads * thread; }
};

// Rows of activations that are multiplied at a time.
int64_t rows_at_once(int64_t k, int64_t rows) {
  return std::min(rows, std::max(kMinRowsAtOnce, kCacheBytes / k / 2 * 2));
}

struct Scratch {
  int8_t* codes;
  float* scales;
  float* sums;
  int32_t* whole;
  int32_t* starts;
  uint8_t* threads;

  Scratch(uint8_t* memory, const Layout& l)
      : codes(reinterpret_cast<int8_t*>(memory)),
        scales(reinterpret_cast<float*>(memory + l.codes)),
        sums(reinterpret_cast<float*>(memory + l.codes + l.scales)),
        whole(reinterpret_cast<int32_t*>(memory + l.codes + l.scales + l.sums)),
        starts(reinterpret_cast<int32_t*>(memory + l.codes + l.scales + l.sums + l.whole)),
        threads(memory + l.codes + l.scales + l.sums + l.whole + l.starts) {}
};

// Whether both formats need the same of a row.
bool group_alike(const BlockFormat& a, const BlockFormat& b) {
  return a.offset == b.offset && a.group == b.group;
}

void group_row(const BlockKernels& kernels, const BlockFormat& f, int64_t place, const Layout& l,
               const Scratch& s) {
  const int64_t units = l.k / kUnit, groups = units * f.groups_per_unit();
  kernels.group_sums(f, s.whole + place * units * 2, s.scales + place * units, units,
                     s.sums + place * groups, s.starts + place * groups);
}

void quantize_row(const BlockKernels& kernels, const float* x, int64_t place, const BlockFormat& f,
                  const Layout& l, const Scratch& s) {
  kernels.quantize(x, l.k, s.codes + place * l.k, s.scales + place * l.k / kUnit,
                   s.whole + place * l.k / 16);
  group_row(kernels, f, place, l, s);
}

void quantize_rows(const BlockKernels& kernels, const float* x, int64_t rows, bool fine,
                   const BlockFormat& f, const Layout& l, const Scratch& s) {
  const int64_t grain = std::max<int64_t>(1, kWorkPerTask / 4 / l.k);
  parallel_for(0, rows, grain, [&](int64_t first, int64_t last) {
    auto* rest = reinterpret_cast<float*>(s.threads + get_thread_num() * l.thread);
    for (int64_t i = first; i < last; ++i) {
      const int64_t place = fine ? 2 * i : i;
      quantize_row(kernels, x + i * l.k, place, f, l, s);
      if (fine) {
        for (int64_t j = 0; j < l.k; ++j) {
          const auto code = static_cast<float>(s.codes[place * l.k + j]);
          rest[j] = x[i * l.k + j] - code * s.scales[place * (l.k / kUnit) + j / kUnit];
        }
        quantize_row(kernels, rest, place + 1, f, l, s);
      }
    }
  });
}

// A tile of all results of some columns, [rows][columns] with `fine` two rows each, to where they
// belong.
void write(const BlockMatmul& p, int64_t column, int64_t columns, const float* tile, int64_t rows,
           bool fine) {
  const int64_t step = fine ? 2 : 1, valid = std::min(columns, p.weight.n - column);
  if (p.result != nullptr) {
    p.result->finish(0, {0, rows, column, valid, tile, columns});
    return;
  }
  for (int64_t r = 0; r < rows; r += step) {
    float* out = p.out + r / step * p.out_stride + column;
    const float* from = tile + r * columns;
    if (!fine && p.bias == nullptr) {
      std::memcpy(out, from, static_cast<size_t>(valid) * sizeof(float));
      continue;
    }
    for (int64_t j = 0; j < valid; ++j) {
      float value = from[j] + (fine ? from[columns + j] : 0.0f);
      out[j] = p.bias == nullptr ? value : value + p.bias[column + j];
    }
  }
}

constexpr int64_t kMaxFewRows = 2 * kMaxFewBlockRows;

struct Call {
  const BlockKernels& kernels;
  const Layout& layout;
  const Scratch& scratch;
  BlockRows x;
  bool fine;
};

void few_rows(const Call& call, const BlockMatmul& p, int64_t first, int64_t last) {
  float tile[kMaxFewRows * kMaxPanelsOfTile * kPanelRows];
  for (int64_t at = first; at < last; at += kMaxPanelsOfTile) {
    const int64_t count = std::min(kMaxPanelsOfTile, last - at), stride = count * kPanelRows;
    for (int64_t i = 0; i < count; ++i) {
      for (int64_t row = 0; row < call.x.rows; row += kMaxFewBlockRows) {
        const int64_t rows = std::min(kMaxFewBlockRows, call.x.rows - row);
        call.kernels.few_rows(p.weight, p.weight.panel(at + i), call.x, row, rows,
                              tile + row * stride + i * kPanelRows, stride);
      }
    }
    write(p, at * kPanelRows, stride, tile, call.x.rows, call.fine);
  }
}

// Units that are unpacked at a time: about equal parts of a row, whole blocks each.
int64_t units_at_once(const BlockMatrix& matrix) {
  const int64_t of_block = matrix.units_per_block(), blocks = matrix.k / kUnit / of_block;
  const int64_t most = kMaxUnitsAtOnce / of_block;
  const int64_t parts = (blocks + most - 1) / most;
  return (blocks + parts - 1) / parts * of_block;
}

// Panels [first, first + count), all their columns, with all rows.
struct PanelsAtOnce {
  const Call& call;
  const BlockMatmul& product;
  const UnpackedPanel* panels;
  ManyRows work;
  const BlockMatmul* after;  // what comes after this product, if anything

  void run(int64_t first) {
    const BlockMatrix& matrix = product.weight;
    const int64_t units = call.x.k / kUnit, step = units_at_once(matrix);
    for (int64_t at = 0; at < units; at += step) {
      work.first_unit = at;
      work.units = std::min(step, units - at);
      work.add = at > 0;
      for (int64_t i = 0; i < work.count; ++i) {
        const uint8_t* panel = matrix.panel(first + i);
        const auto begin = [&](int64_t unit) { return panel + matrix.panel_bytes(unit * kUnit); };
        call.kernels.unpack(matrix, begin(at), work.units * kUnit, panels[i]);
        if (at + step < units) {
          work.next[i] = begin(at + step);
          work.next_bytes = matrix.panel_bytes(std::min(step, units - at - step) * kUnit);
        } else {
          find_next(first + work.count + i, i);
        }
      }
      call.kernels.many_rows(work);
    }
  }

  // The first part of this panel, or of the next product's: a thread that ends here mostly goes on
  // there.
  void find_next(int64_t panel, int64_t i) {
    const bool own = panel < product.weight.num_panels();
    const BlockMatrix* matrix = own ? &product.weight : after == nullptr ? nullptr : &after->weight;
    const int64_t place = own ? panel : i;
    work.next[i] = nullptr;
    if (matrix != nullptr && place < matrix->num_panels()) {
      work.next[i] = matrix->panel(place);
      work.next_bytes = matrix->panel_bytes(units_at_once(*matrix) * kUnit);
    }
  }
};

void many_rows(const Call& call, const BlockMatmul& p, int64_t first, int64_t last,
               const BlockMatmul* after) {
  const Layout& l = call.layout;
  uint8_t* memory = call.scratch.threads + get_thread_num() * l.thread + l.rest;
  auto* tile = reinterpret_cast<float*>(memory);
  UnpackedPanel panels[kMaxPanelsAtOnce];
  memory += l.tile;
  for (UnpackedPanel& panel : panels) {
    panel = {memory, reinterpret_cast<float*>(memory + l.panel_codes),
             reinterpret_cast<float*>(memory + l.panel_codes + l.panel_numbers)};
    memory += l.panel_codes + 2 * l.panel_numbers;
  }
  for (int64_t at = first; at < last; at += kMaxPanelsOfTile) {
    const int64_t end = std::min(at + kMaxPanelsOfTile, last), column = at * kPanelRows;
    const bool direct =
        p.result == nullptr && !call.fine && p.bias == nullptr && end * kPanelRows <= p.weight.n;
    float* out = direct ? p.out + column : tile;
    const int64_t stride = direct ? p.out_stride : (end - at) * kPanelRows;
    for (int64_t panel = at; panel < end; panel += call.kernels.panels) {
      const int64_t count = std::min(call.kernels.panels, end - panel);
      ManyRows work{p.weight, panels, count, 0, 0, call.x, out + (panel - at) * kPanelRows,
                    stride,   false,  {},    0};
      PanelsAtOnce{call, p, panels, work, after}.run(panel);
    }
    if (!direct) {
      write(p, column, stride, tile, call.x.rows, call.fine);
    }
  }
}

void group_rows(const BlockFormat& f, const Call& call) {
  const int64_t grain = std::max<int64_t>(1, kWorkPerTask / call.x.k);
  parallel_for(0, call.x.rows, grain, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      group_row(call.kernels, f, i, call.layout, call.scratch);
    }
  });
}

// The products, whose formats group alike, with rows that are quantized. A strip is what panels are
// taken at once.
void multiply_rows(const Call& call, const BlockMatmul* products, int64_t count) {
  const bool few = call.x.rows <= kMaxFewRows;
  const int64_t step = few ? 1 : call.kernels.panels;
  const auto strips = [&](int64_t i) {
    return (products[i].weight.num_panels() + step - 1) / step;
  };
  int64_t all = 0;
  for (int64_t i = 0; i < count; ++i) {
    all += strips(i);
  }
  const int64_t work = call.x.k * kPanelRows * step * std::max<int64_t>(call.x.rows, 4);
  parallel_for(0, all, std::max<int64_t>(1, kWorkPerTask / work), [&](int64_t first, int64_t last) {
    for (int64_t i = 0; i < count && last > 0; ++i) {
      if (first < strips(i)) {
        const int64_t end = std::min(last * step, products[i].weight.num_panels());
        if (few) {
          few_rows(call, products[i], first, end);
        } else {
          many_rows(call, products[i], first * step, end,
                    i + 1 < count ? products + i + 1 : nullptr);
        }
      }
      first = std::max<int64_t>(0, first - strips(i));
      last -= strips(i);
    }
  });
}

// Without vectors: the same sums in the same order.
void multiply_plain(const BlockMatmul& p, const BlockRows& x, bool fine) {
  const BlockFormat& f = p.weight.facts();
  const int64_t of_block = p.weight.units_per_block();
  for (int64_t i = 0; i < x.rows; ++i) {
    for (int64_t j = 0; j < p.weight.n; ++j) {
      const uint8_t* at = p.weight.panel(j / kPanelRows);
      const int64_t row = j % kPanelRows;
      float total = 0.0f;
      for (int64_t unit = 0; unit < x.k / kUnit; ++unit) {
        const uint8_t* block = at + unit / of_block * p.weight.block_bytes();
        const uint8_t* own = block + factor_bytes(f) + unit % of_block * unit_bytes(f);
        for (int64_t group = 0; group < f.groups_per_unit(); ++group) {
          const ScaleAndMinimum numbers = numbers_at(f, block, own, group, row);
          int32_t sum = 0, codes = 0;
          for (int64_t c = group * f.group; c < (group + 1) * f.group; ++c) {
            const int32_t code = x.codes[i * x.k + unit * kUnit + c];
            sum += code * value_at(f, own + scale_bytes(f) + minima_bytes(f), c, row);
            codes += code;
          }
          const float by = f.by_rows ? 1.0f : x.scales[i * x.k / kUnit + unit];
          total += static_cast<float>(sum) * (numbers.scale * by);
          total += numbers.minimum * (by * static_cast<float>(codes));
        }
      }
      if (p.result != nullptr) {
        p.result->finish(0, {i, 1, j, 1, &total, 1});
        continue;
      }
      float& out = p.out[(fine ? i / 2 : i) * p.out_stride + j];
      out = fine && i % 2 == 1 ? out + total : total + (p.bias == nullptr ? 0.0f : p.bias[j]);
    }
  }
}

}  // namespace

int find_block_format(int64_t number) {
  for (int i = 0; i < kNumBlockFormats; ++i) {
    if (kBlockFormats[i].number == number && number != kNotOfGguf) {
      return i;
    }
  }
  return -1;
}

void read_block_row(const BlockMatrix& matrix, int64_t row, float* out) {
  const BlockFormat& f = matrix.facts();
  const uint8_t* block = matrix.panel(row / kPanelRows);
  const int64_t own = row % kPanelRows;
  for (int64_t at = 0; at < matrix.k; block += matrix.block_bytes()) {
    const uint8_t* unit = block + factor_bytes(f);
    for (int64_t i = 0; i < matrix.units_per_block(); ++i, unit += unit_bytes(f), at += kUnit) {
      const uint8_t* planes = unit + scale_bytes(f) + minima_bytes(f);
      for (int64_t group = 0; group < f.groups_per_unit(); ++group) {
        const ScaleAndMinimum numbers = numbers_at(f, block, unit, group, own);
        for (int64_t c = group * f.group; c < (group + 1) * f.group; ++c) {
          const auto value = static_cast<float>(value_at(f, planes, c, own));
          out[at + c] = value * numbers.scale + numbers.minimum;
        }
      }
    }
  }
}

int64_t block_matmul_bytes(int64_t k, int64_t rows, bool fine) {
  return Layout(k, rows_at_once(k, fine ? 2 * rows : rows)).bytes();
}

void multiply_blocks_by(const BlockKernels& kernels, const BlockMatmul* products, int64_t count,
                        const float* x, int64_t rows, bool fine, uint8_t* scratch) {
  const int64_t k = products[0].weight.k, twice = fine ? 2 : 1;
  const int64_t step = rows_at_once(k, twice * rows);
  const Layout layout(k, step);
  const Scratch memory(scratch, layout);
  for (int64_t first = 0; first < rows; first += step / twice) {
    const int64_t now = std::min(step / twice, rows - first);
    const BlockFormat* given = &products[0].weight.facts();
    quantize_rows(kernels, x + first * k, now, fine, *given, layout, memory);
    const Call call{kernels,
                    layout,
                    memory,
                    {twice * now, k, memory.codes, memory.scales, memory.sums, memory.starts},
                    fine};
    for (int64_t i = 0; i < count;) {  // those that group alike together
      BlockMatmul same[kMaxBlockMatmuls];
      int64_t number = 0;
      const BlockFormat& format = products[i].weight.facts();
      for (; i < count && group_alike(products[i].weight.facts(), format); ++i) {
        same[number] = products[i];
        same[number++].out += first * products[i].out_stride;
      }
      if (kernels.few_rows == nullptr) {
        for (int64_t j = 0; j < number; ++j) {
          multiply_plain(same[j], call.x, fine);
        }
        continue;
      }
      if (!group_alike(format, *given)) {
        group_rows(format, call);
        given = &format;
      }
      multiply_rows(call, same, number);
    }
  }
}

namespace {

// Columns 8i to 8i + 7 of a row, two a byte, as a panel has them: byte c has column c, and above it
// column c + 4.
uint32_t two_quads(uint32_t values) {
  constexpr uint32_t kLow = 0x0F0F0F0F;
  const uint32_t even = values & kLow, odd = values >> 4 & kLow;
  const uint32_t evens = even | even >> 12, odds = odd | odd >> 12;
  return (evens & 0xFF) | (odds & 0xFF) << 8 | (evens & 0xFF00) << 8 | (odds & 0xFF00) << 16;
}

int32_t sum_of_nibbles(uint32_t values) {
  constexpr uint32_t kLow = 0x0F0F0F0F;
  return static_cast<int32_t>(((values & kLow) + (values >> 4 & kLow)) * 0x01010101u >> 24);
}

void pack_int4_panel(const Int4Matrix& from, const BlockMatrix& to, int64_t panel, uint8_t* block,
                     float* sums) {
  constexpr int64_t kWords = kUnit / 8;  // of a row's unit
  constexpr uint16_t kOne = 0x3F80;      // bfloat16
  const BlockFormat& f = to.facts();
  const int64_t units = to.units_per_block(), first = panel * kPanelRows;
  const int64_t count = std::min(kPanelRows, to.n - first);
  const int64_t repeats = from.block_units / units;
  std::fill_n(sums, kPanelRows, 0.0f);
  for (int64_t at = 0; at < to.k / kUnit; at += units, block += to.block_bytes()) {
    std::memset(block, 0, static_cast<size_t>(to.block_bytes()));
    for (int64_t r = 0; r < count; ++r) {
      const int64_t row = first + r;
      const uint16_t scale =
          from.scales == nullptr
              ? kOne
              : from.scales[row * (to.k / kUnit / from.block_units) + at / units / repeats];
      std::memcpy(block + 2 * r, &scale, sizeof scale);
      int32_t sum = -f.offset * static_cast<int32_t>(units * kUnit);
      for (int64_t i = 0; i < units * kWords; ++i) {
        uint32_t values;
        std::memcpy(&values, from.values + row * (to.k / 2) + (at * kWords + i) * 4, sizeof values);
        sum += sum_of_nibbles(values);
        const uint32_t packed = two_quads(values);
        std::memcpy(block + factor_bytes(f) + i * kQuadBytes + r * 4, &packed, sizeof packed);
      }
      sums[r] += static_cast<float>(sum) * bfloat16_at(block + 2 * r);
    }
  }
}

// Rows of a result that begin at `first`.
class Shifted final : public BlockResult {
 public:
  Shifted(const BlockResult& result, int64_t first) : result_(result), first_(first) {}
  void finish(int64_t problem, const Tile& tile) const override {
    Tile own = tile;
    own.row += first_;
    result_.finish(problem, own);
  }

 private:
  const BlockResult& result_;
  const int64_t first_;
};

// Of blocks, each at its first unit.
void start_blocks(const BlockMatrix& matrix, const int32_t* whole, int32_t* starts) {
  const int64_t units = matrix.units_per_block();
  for (int64_t at = 0; at < matrix.k / kUnit; at += units) {
    int32_t sum = 0;
    for (int64_t i = 2 * at; i < 2 * (at + units); ++i) {
      sum += whole[i];
    }
    starts[at] = -matrix.facts().offset * sum;
  }
}

}  // namespace

bool suits_int4() {
  return int4_kernels().few_rows != nullptr;
}

BlockMatrix int4_matrix(int64_t n, int64_t k, int64_t block_units) {
  int64_t units = std::min(block_units, kMaxUnitsOfBlock);
  while (block_units % units != 0) {
    --units;
  }
  return {kInt4Format, n, k, nullptr, units};
}

void pack_int4(const Int4Matrix& from, const BlockMatrix& to, uint8_t* panels, float* sums) {
  const int64_t grain = std::max<int64_t>(1, kWorkPerTask / 4 / to.k);
  parallel_for(0, to.num_panels(), grain, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      pack_int4_panel(from, to, i, panels + i * to.panel_bytes(), sums + i * kPanelRows);
    }
  });
}

int64_t int4_matmul_bytes(int64_t k, int64_t rows) {
  return Layout(k, rows_at_once(k, rows), /*given=*/true).bytes();
}

void multiply_int4(const BlockMatrix& weight, const int8_t* x, int64_t rows,
                   const BlockResult& result, uint8_t* scratch) {
  const BlockKernels& kernels = int4_kernels();
  const int64_t step = rows_at_once(weight.k, rows);
  const Layout layout(weight.k, step, /*given=*/true);
  const Scratch memory(scratch, layout);
  for (int64_t first = 0; first < rows; first += step) {
    const int64_t now = std::min(step, rows - first), units = weight.k / kUnit;
    const int8_t* codes = x + first * weight.k;
    const int64_t grain = std::max<int64_t>(1, kWorkPerTask / weight.k);
    parallel_for(0, now, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        int32_t* whole = memory.whole + i * 2 * units;
        kernels.sum_codes(codes + i * weight.k, units, whole);
        start_blocks(weight, whole, memory.starts + i * units);
      }
    });
    const Call call{kernels,
                    layout,
                    memory,
                    {now, weight.k, codes, nullptr, nullptr, memory.starts},
                    /*fine=*/false};
    const Shifted shifted(result, first);
    const BlockMatmul product{weight, nullptr, nullptr, 0, &shifted};
    if (kernels.few_rows == nullptr) {
      multiply_plain(product, call.x, /*fine=*/false);
    } else {
      multiply_rows(call, &product, 1);
    }
  }
}

}  // namespace executorch::kernels::optimized
