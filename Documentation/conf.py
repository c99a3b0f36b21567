# SPDX-License-Identifier: GPL-2.0
# How Sphinx builds the documents, as HTML and as man pages: see scripts/doc.
import glob
import os
import re

here = os.path.dirname(os.path.abspath(__file__))


def read(path):
    with open(os.path.join(here, path), encoding="utf-8") as file:
        return file.read()


def version_part(part):
    return re.search(r"POSIXTRACE_VERSION_%s\s+(\d+)" % part,
                     read("../lib/include/posixtrace.h")).group(1)


project = "posixtrace"
author = ""
project_copyright = ""
version = version_part("MAJOR") + "." + version_part("MINOR")
release = version

# a part of performance.rst, not a page
exclude_patterns = ["performance-tables.rst"]

# The pages name functions of C and options as they are typed.
smartquotes = False
highlight_language = "none"

html_theme = "alabaster"
html_copy_source = False
html_show_copyright = False
html_theme_options = {"description": "POSIX.1-2017 Tracing for Linux", "page_width": "75em"}


# man/NAME.SECTION.rst is a man page. The description is empty, so that Sphinx writes no section
# NAME: it would contain only one name, but the section NAME in the file may name several functions.
def man_page(path):
    name, section = os.path.basename(path)[:-len(".rst")].rsplit(".", 1)
    return ("man/%s.%s" % (name, section), name, "", [], section)


man_pages = [man_page(path) for path in sorted(glob.glob(os.path.join(here, "man/*.[0-9].rst")))]
man_make_section_directory = True
