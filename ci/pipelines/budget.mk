# SPDX-License-Identifier: BSD-2-Clause
# budget.mk: include it in your makefile. `make budget` runs BUDGET_TESTS counted, each a target of yours, and compares with
# BUDGET_FILE. Build with CC=epitaph-cc.
EPITAPH      ?= epitaph
BUDGET_FILE  ?= epitaph.budget
BUDGET_TESTS ?= check
BUDGET_DIR   ?= epitaph-results

.PHONY: budget budget-run
budget-run:
	$(foreach test,$(BUDGET_TESTS),$(EPITAPH) budget run --results=$(BUDGET_DIR) --test=$(test) -- $(MAKE) $(test) &&) true
budget: budget-run
	$(EPITAPH) budget check --results=$(BUDGET_DIR) $(BUDGET_FILE)
