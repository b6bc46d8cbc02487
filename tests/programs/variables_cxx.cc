// SPDX-License-Identifier: BSD-2-Clause
// variables_cxx.cc: dies in shop::Cart::total, whose variables are of the C++ library's types and classes of its own.
#include <string>
#include <vector>
#include <map>
#include <memory>
#include <cstdlib>
#include <string_view>
namespace shop {
struct Base { virtual ~Base() {} int id = 7; };
struct Order : Base { std::string customer; std::vector<int> items; bool paid = true; enum class State : unsigned char { Open, Closed } state = State::Closed; };
class Cart {
public:
	explicit Cart(const Order &order) : first(order) {}
	__attribute__((noinline)) int total(const std::string &name, std::vector<Order> &orders, int *price, const char *&text);
private:
	Order first;
	int count = 3;
	double sum = 1.5;
};
int Cart::total(const std::string &name, std::vector<Order> &orders, int *price, const char *&text)
{
	std::string local = name + " and more";
	std::vector<std::string> words{"a", "bc"};
	std::vector<int> empty;
	std::unique_ptr<int> owned(new int(5));
	std::string_view view(local);
	auto lambda = [&](int x) { return x + count; };
	int result = lambda(4) + *owned + (int)orders.size() + (int)words.size() + (int)empty.size() + (int)view.size() + text[0];
	for (auto &order : orders) {
		int number = order.id + result;
		*price = number;
	}
	return result;
}
}
int main()
{
	shop::Order order;
	order.customer = "Ada Lovelace, of a rather long name indeed";
	order.items = {1, 2, 3};
	std::vector<shop::Order> orders{order};
	shop::Cart cart(order);
	const char *text = "x";
	return cart.total("Bob", orders, (int *)8, text);
}
