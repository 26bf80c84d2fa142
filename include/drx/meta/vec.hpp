// drx/meta/vec.hpp: the growable array of constant evaluation. std::vector would do, but costs several times the
// evaluation steps (allocator traits, construct_at), and clang counts steps.
#pragma once

#include <drx/config.hpp>

#include <initializer_list>
#include <type_traits>

namespace drx::meta {

template <class T>
class vec {
 public:
  constexpr vec() = default;
  constexpr explicit vec(int n, const T& fill = T{}) { resize(n, fill); }
  constexpr vec(std::initializer_list<T> values) {
    reserve(static_cast<int>(values.size()));
    for (const T& v : values) push_back(v);
  }
  constexpr vec(const vec& other) {
    if (other.size_ == 0) return;
    size_ = capacity_ = other.size_;
    data_ = room(size_);
    for (int i = 0; i < size_; ++i) data_[i] = other.data_[i];
  }
  constexpr vec(vec&& other) noexcept : data_(other.data_), size_(other.size_), capacity_(other.capacity_) {
    other.data_ = nullptr;
    other.size_ = other.capacity_ = 0;
  }
  constexpr vec& operator=(const vec& other) {
    if (this == &other) return *this;
    if (capacity_ < other.size_) {
      delete[] data_;
      capacity_ = other.size_;
      data_ = room(capacity_);
    }
    size_ = other.size_;
    for (int i = 0; i < size_; ++i) data_[i] = other.data_[i];
    return *this;
  }
  constexpr vec& operator=(vec&& other) noexcept {
    T* const data = data_;
    const int size = size_, capacity = capacity_;
    data_ = other.data_;
    size_ = other.size_;
    capacity_ = other.capacity_;
    other.data_ = data;
    other.size_ = size;
    other.capacity_ = capacity;
    return *this;
  }
  constexpr ~vec() { delete[] data_; }

  [[nodiscard]] constexpr int size() const { return size_; }
  [[nodiscard]] constexpr bool empty() const { return size_ == 0; }
  constexpr T& operator[](int i) { return data_[i]; }
  constexpr const T& operator[](int i) const { return data_[i]; }
  constexpr T& back() { return data_[size_ - 1]; }
  constexpr const T& back() const { return data_[size_ - 1]; }
  constexpr T* begin() { return data_; }
  constexpr T* end() { return data_ + size_; }
  constexpr const T* begin() const { return data_; }
  constexpr const T* end() const { return data_ + size_; }

  constexpr void push_back(const T& value) {
    if (size_ == capacity_) return push_back(T(value));  // it may be an element, which then moves
    data_[size_++] = value;
  }
  constexpr void push_back(T&& value) {
    if (size_ == capacity_) reserve(capacity_ == 0 ? 4 : 2 * capacity_);
    data_[size_++] = static_cast<T&&>(value);
  }
  constexpr void append(const vec& other) {
    for (int i = 0; i < other.size_; ++i) push_back(other.data_[i]);
  }
  constexpr void pop_back() { --size_; }
  constexpr void resize(int n, const T& fill = T{}) {
    if constexpr (std::is_integral_v<T>)
      if (!data_ && n > 0 && fill == T{}) {
        data_ = new T[static_cast<unsigned long>(n)]{};
        size_ = capacity_ = n;
        return;
      }
    if (n > capacity_) reserve(n < 2 * capacity_ ? 2 * capacity_ : n);
    for (int i = size_; i < n; ++i) data_[i] = fill;
    size_ = n;
  }
  constexpr void reserve(int n) {
    if (n <= capacity_) return;
    T* grown = room(n);
    for (int i = 0; i < size_; ++i) grown[i] = static_cast<T&&>(data_[i]);
    delete[] data_;
    data_ = grown;
    capacity_ = n;
  }
  [[nodiscard]] constexpr int find(const T& value) const {  // the index, or -1
    for (int i = 0; i < size_; ++i)
      if (data_[i] == value) return i;
    return -1;
  }
  friend constexpr bool operator==(const vec& a, const vec& b) {
    if (a.size_ != b.size_) return false;
    for (int i = 0; i < a.size_; ++i)
      if (!(a.data_[i] == b.data_[i])) return false;
    return true;
  }

 private:
  /// New elements, not set to 0: in constant evaluation that costs as much as the loop that then writes them.
  static constexpr T* room(int n) { return new T[static_cast<unsigned long>(n)]; }

  T* data_ = nullptr;
  int size_ = 0;
  int capacity_ = 0;
};

}  // namespace drx::meta
