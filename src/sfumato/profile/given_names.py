"""Given names that many people bear, in several languages: beside a second capitalised word they are a person's full name.

Words that are as often something else are left out: months, places, flowers, occupations (May, Victoria, Rose, Carter).
"""

from __future__ import annotations

from ..core.people import words_of

GIVEN = words_of(
    """Aaron Abdul Adam Ahmed Aisha Albert Alejandro Alessandro Alex Alexander Alexandra Ali Alice Amanda Amina Amy Ana Anders Andrea
    Andreas Andrew Andrzej Angela Anita Anja Anke Ann Anna Anne Annette Anthony Antje Antoine Antonio Arjan Arthur Ayse Barbara Beata Beatriz
    Ben Benjamin Bernd Bert Birgit Björn Bram Brian Brigitte Bruno Camille Carla Carlos Carmen Carol Caroline Catherine Charles Chiara
    Christian Christina Christine Christoph Christopher Claire Claudia Craig Cristina Daan Daniel Daniela David Deborah Denis Dennis Diana
    Diego Dieter Dirk Dominik Donald Donna Edward Elena Elif Elisabeth Elizabeth Ella Emil Emily Emine Emma Eric Erik Eva Ewa Fabian
    Fatima Fatma Felix Fernando Finn Florian Francesca Francesco Franck François Françoise Frank Franz Frédéric Friedrich Fritz Gabriele
    Gary Georg George Gerhard Gianni Giorgio Giovanni Giulia Giuseppe Grzegorz Guillaume Günter Günther Gustav Hannah Hans Hasan Heike
    Heinz Helen Helga Helmut Henrik Herbert Horst Hugo Hüseyin Ibrahim Ingrid Irina Isabel Isabelle Ivan Jacob Jacques Jakub James Jan Jana
    Janet Jason Javier Jean Jeffrey Jennifer Jens Jeroen Jessica Jim Joachim Joan João Joe Johan Johann Johanna Johannes John Jonas
    Jonathan Jorge José Josef Joseph Juan Julia Julie Jürgen Karen Karin Karl Katarzyna Katharina Kathrin Katja Kemal Kenneth Kerstin Kevin Khalid
    Klaus Krzysztof Lars Laura Laurent Lea Lena Leon Leonie Linda Lisa Lorenzo Louise Luca Lucas Luis Luisa Lukas Maarten Magdalena Manfred
    Manuel Manuela Marc Marcel Marco Marek Margaret Maria María Marie Mario Mark Markus Marta Martin Martina Mary Mateusz Matteo Matthew
    Matthias Max Maximilian Mehmet Melanie Mia Michael Michaela Michel Michelle Miguel Mike Mohamed Mohammed Monika Monique Muhammad Murat
    Mustafa Nadine Nancy Natalie Nicholas Nicolas Nicole Niels Nikola Nina Noah Nora Olga Oliver Olivier Omar Oskar Özlem Pablo Paola Paolo
    Pascal Patricia Patrick Paul Paula Paulo Pedro Peter Petra Philip Philipp Philippe Pierre Pieter Piotr Rachel Ralf Rainer Raúl Rebecca Renate
    Richard Robert Roberto Rolf Ronald Rosa Ruth Ryan Sabine Salma Samantha Samuel Sandra Sara Sarah Sebastian Sergio Simon Simone Sofia Sofie
    Sophia Sophie Stefan Stefanie Stephan Stephanie Stephen Steven Susan Susanne Svetlana Sven Sylvia Tanja Tatiana Teresa Theo Thierry Thomas
    Thorsten Tim Timothy Tobias Tom Tomasz Torsten Ulrich Ulrike Ursula Ute Uwe Valentina Vanessa Vera Véronique Viktor Vincent Volker Walter
    Werner Wilhelm Willem William Wolfgang Yasmin Yusuf Yves Zeynep Zoe"""
)
