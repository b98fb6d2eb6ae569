// A training loop that records itself: a network of two layers learns which points lie inside a
// circle.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "steplens/collect.hpp"

namespace {

constexpr size_t kBatch = 256;
constexpr size_t kHidden = 64;

// Rows x columns numbers, row by row.
struct Matrix {
  Matrix(size_t row_count, size_t column_count)
      : rows(row_count), columns(column_count), values(row_count * column_count) {}
  float& at(size_t row, size_t column) { return values[row * columns + column]; }
  float at(size_t row, size_t column) const { return values[row * columns + column]; }
  size_t rows;
  size_t columns;
  std::vector<float> values;
};

// Records an operator with the shapes of its two inputs.
class RecordedOp {
 public:
  RecordedOp(const steplens::Text& name, const Matrix& a, const Matrix& b)
      : name_(name.id()),
        shapes_{2, int64_t(a.rows), int64_t(a.columns), 2, int64_t(b.rows), int64_t(b.columns)},
        start_(sl_now()) {}
  ~RecordedOp() {
    if (!sl_recording()) return;
    static const steplens::Text kTypes("float;float");
    sl_op op = {};
    op.start = start_;
    op.end = sl_now();
    op.sequence = -1;
    op.name = name_;
    op.dtypes = kTypes.id();
    op.shapes = shapes_;
    op.shape_words = 6;
    sl_record_op(&op);
  }

 private:
  sl_string name_;
  int64_t shapes_[6];
  sl_ticks start_;
};

// out = a x b
void Multiply(const Matrix& a, const Matrix& b, Matrix* out) {
  static const steplens::Text kName("matmul");
  const RecordedOp op(kName, a, b);
  for (size_t i = 0; i < a.rows; ++i) {
    for (size_t j = 0; j < b.columns; ++j) out->at(i, j) = 0;
    for (size_t k = 0; k < a.columns; ++k) {
      for (size_t j = 0; j < b.columns; ++j) out->at(i, j) += a.at(i, k) * b.at(k, j);
    }
  }
}

// out = transposed(a) x b
void MultiplyTransposed(const Matrix& a, const Matrix& b, Matrix* out) {
  static const steplens::Text kName("matmul_transposed");
  const RecordedOp op(kName, a, b);
  for (float& value : out->values) value = 0;
  for (size_t k = 0; k < a.rows; ++k) {
    for (size_t i = 0; i < a.columns; ++i) {
      for (size_t j = 0; j < b.columns; ++j) out->at(i, j) += a.at(k, i) * b.at(k, j);
    }
  }
}

class Network {
 public:
  Network()
      : first_(2, kHidden), second_(kHidden, 1), hidden_(kBatch, kHidden), output_(kBatch, 1) {
    std::mt19937 random(1);
    std::normal_distribution<float> normal(0, 0.5f);
    for (float& weight : first_.values) weight = normal(random);
    for (float& weight : second_.values) weight = normal(random);
  }

  // Probabilities that the points are inside.
  const Matrix& Forward(const Matrix& points) {
    const steplens::Range range("forward");
    Multiply(points, first_, &hidden_);
    for (float& value : hidden_.values) value = std::cos(value);
    Multiply(hidden_, second_, &output_);
    for (float& value : output_.values) value = 1 / (1 + std::exp(-value));
    return output_;
  }

  void Backward(const Matrix& points, const Matrix& truth) {
    const steplens::Range range("backward");
    Matrix error(kBatch, 1);
    for (size_t i = 0; i < kBatch; ++i) {
      error.at(i, 0) = (output_.at(i, 0) - truth.at(i, 0)) / kBatch;
    }
    Matrix before(kBatch, kHidden);
    Multiply(points, first_, &before);
    Matrix hidden_error(kBatch, kHidden);
    for (size_t i = 0; i < kBatch; ++i) {
      for (size_t j = 0; j < kHidden; ++j) {
        hidden_error.at(i, j) = -error.at(i, 0) * second_.at(j, 0) * std::sin(before.at(i, j));
      }
    }
    MultiplyTransposed(hidden_, error, &second_gradient_);
    MultiplyTransposed(points, hidden_error, &first_gradient_);
  }

  void Update(float rate) {
    const steplens::Range range("optimizer");
    for (size_t i = 0; i < first_.values.size(); ++i) {
      first_.values[i] -= rate * first_gradient_.values[i];
    }
    for (size_t i = 0; i < second_.values.size(); ++i) {
      second_.values[i] -= rate * second_gradient_.values[i];
    }
  }

 private:
  Matrix first_;
  Matrix second_;
  Matrix first_gradient_{2, kHidden};
  Matrix second_gradient_{kHidden, 1};
  Matrix hidden_;
  Matrix output_;
};

void LoadBatch(std::mt19937& random, Matrix* points, Matrix* truth) {
  const steplens::Range range("load_batch");
  std::uniform_real_distribution<float> uniform(-2, 2);
  for (size_t i = 0; i < kBatch; ++i) {
    const float x = points->at(i, 0) = uniform(random);
    const float y = points->at(i, 1) = uniform(random);
    truth->at(i, 0) = x * x + y * y < 2 ? 1.0f : 0.0f;
  }
}

double Loss(const Matrix& output, const Matrix& truth) {
  double sum = 0;
  for (size_t i = 0; i < kBatch; ++i) {
    const double right = truth.at(i, 0) > 0.5f ? output.at(i, 0) : 1 - output.at(i, 0);
    sum -= std::log(std::max(right, 1e-7));
  }
  return sum / kBatch;
}

}  // namespace

int main(int argc, char** argv) {
  steplens::ProfilerOptions options;
  options.directory = argc > 1 ? argv[1] : "profile";
  options.schedule = steplens::Schedule{.wait = 1, .active = 3, .warmup = 1, .repeat = 1};
  options.host_sources = SL_HOST_CPU | SL_HOST_MEMORY;
  options.on_capture = [](const std::string& folder) {
    std::printf("recorded %s\n", folder.c_str());
  };
  const int steps = argc > 2 ? std::atoi(argv[2]) : 200;

  const steplens::Text loss_series("loss");
  steplens::Profiler profiler(options);
  Network network;
  Matrix points(kBatch, 2);
  Matrix truth(kBatch, 1);
  std::mt19937 random(7);
  double loss = 0;
  profiler.Start();
  for (int step = 0; step < steps; ++step) {
    LoadBatch(random, &points, &truth);
    loss = Loss(network.Forward(points), truth);
    sl_counter(loss_series.id(), loss);
    network.Backward(points, truth);
    network.Update(0.5f);
    profiler.Step();
  }
  profiler.Stop();
  std::printf("%d steps, loss %.3f\n", steps, loss);
  return 0;
}
