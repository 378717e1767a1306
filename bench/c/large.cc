// One unit of a large program: templates of the standard library, many times over, as C++
// programs have them. All names but one are its own, so that it can be linked many times.
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <regex>
#include <string>
#include <unordered_map>
#include <vector>

#include "waymark/simple.h"

namespace {

template <int I> struct item {
	int id;
	std::string name;
	double values[I + 1];
	bool operator<(const item &o) const { return id < o.id; }
};

template <int I> int work(int n)
{
	std::map<std::string, item<I>> by_name;
	std::unordered_map<int, std::shared_ptr<item<I>>> by_id;
	std::vector<item<I>> all;
	for (int i = 0; i < n; i++) {
		item<I> it{i, "n" + std::to_string(i), {}};
		WAYMARK_SIMPLE("large:insert", "%d of %d", i, n);
		by_name[it.name] = it;
		by_id[i] = std::make_shared<item<I>>(it);
		all.push_back(it);
	}
	std::sort(all.begin(), all.end(), [](const item<I> &a, const item<I> &b) { return a.name < b.name; });
	std::stable_sort(all.begin(), all.end());
	std::function<int(const item<I> &)> count = [&](const item<I> &x) { return int(by_name.count(x.name) + by_id.count(x.id)); };
	int sum = 0;
	for (auto &x : all)
		sum += count(x);
	WAYMARK_SIMPLE("large:counted", "%d", sum);
	return sum;
}

template <int I> int all(int n)
{
	if constexpr (I < 0)
		return 0;
	else
		return work<I>(n) + all<I - 1>(n);
}

} // namespace

extern "C" int large_run(int n)
{
	std::regex name("n[0-9]+");
	return all<15>(n) + std::regex_match("n1", name);
}
